import GRDB
import Messages

/// What one commit says of a conversation that is being published: how messages ended that had begun together, and which
/// begin now.
public struct RunEnd: Sendable {
  /// Those that are published, in order.
  public var sent: [(message: QueuedMessage, published: Published)]
  /// Those that had begun, and that the network was not asked to publish.
  public var untried: [QueuedMessage]
  /// Those that begin, in order, each with the network's id of it, where it gives one before.
  public var next: [(message: QueuedMessage, reserved: String?)]

  public init(
    sent: [(message: QueuedMessage, published: Published)] = [], untried: [QueuedMessage] = [],
    next: [(message: QueuedMessage, reserved: String?)] = []
  ) {
    self.sent = sent
    self.untried = untried
    self.next = next
  }
}

extension Ledger {
  /// Ends what had begun, and begins what is next, in one commit: before the network hears of that.
  ///
  /// - Returns: the final states of the requests whose last message was sent; and the numbers of the attempts of those that
  ///   have begun: of fewer than were to when one of them was cancelled; nil when the conversation is held.
  public func end(_ run: RunEnd, at now: Timestamp) async throws -> (finished: [RequestState], attempts: [Int]?) {
    try await write { database in
      let finished = try run.sent.compactMap { try database.markSent($0.message, $0.published, at: now) }
      for message in run.untried { try database.takeBackAttempt(of: message) }
      return (finished, try database.begin(run.next, at: now))
    }
  }
}

extension Database {
  fileprivate func begin(_ run: [(message: QueuedMessage, reserved: String?)], at now: Timestamp) throws -> [Int]? {
    guard let conversation = run.first?.message.conversationRow else { return [] }
    let isHeld = try Bool.fetchOne(
      kept("SELECT held FROM conversations WHERE id = ?"), arguments: [conversation])
    if isHeld == true { return nil }
    var attempts: [Int] = []
    for (message, reserved) in run {
      guard let attempt = try beginPublishing(message, reserved: reserved, at: now) else { break }
      attempts.append(attempt)
    }
    return attempts
  }

  /// As if it had not begun.
  fileprivate func takeBackAttempt(of message: QueuedMessage) throws {
    guard try move(message, to: .pending, setting: ", attempts = attempts - 1") else { return }
    try run("DELETE FROM attempts WHERE message = ? AND ended_at IS NULL", [message.message.text])
  }
}
