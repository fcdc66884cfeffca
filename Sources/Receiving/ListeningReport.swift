import Messages

/// How listening to one network goes.
package struct ListeningReport: Sendable, Equatable {
  package let network: String
  /// When the network last answered; nil when it has not.
  package var answeredAt: Timestamp?
  /// Messages with photos that were heard since this process listens to it.
  package var heard = 0
  /// What failed last; nil while all is well.
  package var failure: DeliveryError?
  /// When it is tried again after that.
  package var nextAttempt: Timestamp?

  init(_ network: String) { self.network = network }

  /// One plain sentence.
  package func sentence(now: Timestamp = .now()) -> String {
    if let failure {
      let next = nextAttempt.map { "; next attempt \($0)" } ?? ""
      return "nothing is heard: \(failure.sentence)\(next)"
    }
    guard let answeredAt else { return "begins to listen" }
    return "listens; the last answer came \(max(0, Int(now.seconds(since: answeredAt)))) s ago"
  }
}
