import Messages

/// The state of listening to one network.
package struct ListeningReport: Sendable, Equatable {
  package let network: String
  /// The time of the last answer, if any.
  package var answeredAt: Timestamp?
  /// Messages with photos since this process started.
  package var heard = 0
  /// The last error; nil while all is well.
  package var failure: DeliveryError?
  /// The next attempt after that.
  package var nextAttempt: Timestamp?

  init(_ network: String) { self.network = network }

  package func sentence(now: Timestamp = .now()) -> String {
    if let failure {
      let next = nextAttempt.map { "; next attempt \($0)" } ?? ""
      return "nothing is heard: \(failure.sentence)\(next)"
    }
    guard let answeredAt else { return "begins to listen" }
    return "listens; the last answer came \(max(0, Int(now.seconds(since: answeredAt)))) s ago"
  }
}
