struct CoProcessProgram: Sendable {
  /// Its name in sentences and in the log.
  var name: String
  var path: String
  var arguments: [String] = []
  /// Its whole environment.
  var environment: [String] = []
  /// The time limit for an answer in seconds. Then it counts as hanging and is ended.
  var answerSeconds = 60.0
  /// Seconds that it may take to end after its input is closed.
  var endSeconds = 1.0
  /// The size limit of an answer.
  var longestAnswer = 1 << 20
  /// Requests without an answer.
  var mostRequests = 1024
  /// Seconds before a restart, by the number of ends in a row without an answer.
  var backoff: @Sendable (Int) -> Double = { $0 < 2 ? 0 : Double(min(5, 1 << min($0 - 2, 10))) }
}
