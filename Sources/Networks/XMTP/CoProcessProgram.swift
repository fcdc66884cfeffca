/// What a co-process is started from, and what is expected of it.
struct CoProcessProgram: Sendable {
  /// The word for it in sentences and in the log.
  var name: String
  /// The path of the executable.
  var path: String
  var arguments: [String] = []
  /// Its whole environment: nothing of ours is handed on.
  var environment: [String] = []
  /// Seconds in which it has to answer a request. One that does not is taken to hang, and is ended.
  var answerSeconds = 60.0
  /// Seconds that it has to end by itself, once its input is closed.
  var endSeconds = 1.0
  /// Bytes of one answer.
  var longestAnswer = 1 << 20
  /// Requests that it is given before it has answered earlier ones.
  var mostRequests = 1024
  /// Seconds before it is started again, from the number of times in a row that it ended without a single answer.
  var backoff: @Sendable (Int) -> Double = { $0 < 2 ? 0 : min(5, pow2($0 - 2)) }

  private static func pow2(_ exponent: Int) -> Double { Double(1 << min(exponent, 10)) }
}
