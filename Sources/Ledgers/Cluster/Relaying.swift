import Clusters
import GRDB
import Messages

/// A whole request that waits to be relayed to the queue of the cluster.
package struct RelayableRequest: Sendable {
  /// In order; never empty.
  package let messages: [QueuedMessage]
  package let first: QueuedMessage

  fileprivate init(_ first: QueuedMessage, _ rest: [QueuedMessage]) {
    self.first = first
    messages = [first] + rest
  }

  package var row: Int64 { first.requestRow }
  package var isText: Bool { messages.allSatisfy { $0.kind == .text } }
  /// Whether an earlier attempt may have put it into the queue.
  package var isInDoubt: Bool { messages.contains { $0.state == .publishing } }
}

/// The steps of a request into the queue. Its messages are `publishing` before the append, `relayed` once the queue is known
/// to have it, and `pending` again if the queue is known not to have it.
extension Ledger {
  private static let relayedAtOnce = 64

  /// The first requests of a conversation, in order.
  package func relayable(in conversation: Int64) async throws -> [RelayableRequest] {
    // More than the messages of a request.
    let messages = try await head(of: conversation, limit: Self.relayedAtOnce)
    var requests: [RelayableRequest] = []
    var rest = messages[...]
    while let first = rest.popFirst() {
      let own = rest.prefix { $0.requestRow == first.requestRow }
      rest = rest.dropFirst(own.count)
      requests.append(RelayableRequest(first, Array(own)))
    }
    // The last one may be cut off.
    return messages.count == Self.relayedAtOnce && requests.count > 1 ? requests.dropLast() : requests
  }

  /// Records that the queue is about to get these requests in one record. From here on they may be in it, and cannot be
  /// cancelled here.
  ///
  /// - Parameter record: the id of a record with the requests that it is given.
  /// - Returns: those that were not cancelled, and their record; nil if there are none, or the conversation is held.
  package func beginRelaying(
    _ requests: [RelayableRequest], as record: @escaping @Sendable ([RelayableRequest]) -> RecordID
  ) async throws -> (requests: [RelayableRequest], record: RecordID)? {
    guard let conversation = requests.first?.first.conversationRow else { return nil }
    return try await write { database in
      if try database.value("SELECT held FROM conversations WHERE id = ?", conversation) == true { return nil }
      let begun = try requests.filter { request in
        try database.run(
          """
          UPDATE messages SET state = 'publishing', next_attempt = NULL
          WHERE request_id = ? AND draft = 0 AND \(LedgerSchema.waitingHere)
          """, request.row)
        return database.changesCount == request.messages.count
      }
      if begun.isEmpty { return nil }
      let id = record(begun)
      for request in begun { try database.run("UPDATE requests SET record = ? WHERE id = ?", id.text, request.row) }
      return (begun, id)
    }
  }

  /// Ends what `beginRelaying` began.
  ///
  /// - Parameters:
  ///   - relayed: the queue has them.
  ///   - untried: the queue does not get them. Those that may have been published before stay in doubt.
  package func endRelaying(relayed: [RelayableRequest], untried: [RelayableRequest]) async throws {
    try await write { database in
      for request in relayed {
        try database.run(
          """
          UPDATE messages SET state = 'relayed', cause = NULL, error = NULL WHERE request_id = ? AND state = 'publishing'
          """, request.row)
        try database.removeWaiting(database.changesCount, from: request.first.conversationRow)
      }
      for request in untried {
        try database.run(
          "UPDATE messages SET state = 'pending' WHERE request_id = ? AND state = 'publishing' AND attempts = 0",
          request.row)
        try database.run("UPDATE requests SET record = NULL WHERE id = ?", request.row)
      }
    }
  }

  /// Records why a conversation is not relayed now, and lets it wait.
  ///
  /// - Parameter destination: the destination it waits for; nil if it waits only for `due`.
  package func delayRelaying(
    _ message: QueuedMessage, for destination: String?, error: DeliveryError?, until due: Timestamp
  ) async throws {
    try await write { database in
      if let error {
        try database.run(
          "UPDATE messages SET cause = ?, error = ? WHERE id = ? AND \(LedgerSchema.waitingHere)",
          error.cause.rawValue, error.sentence, message.row)
      }
      try database.run(
        "UPDATE conversations SET waits_for = ?, due = ? WHERE id = ?", destination, due.milliseconds,
        message.conversationRow)
    }
  }

  /// Whether a duplicate must wait, because the cluster has the first request with its key.
  package func awaitsRelayed(_ message: QueuedMessage) async throws -> Bool {
    try await ask { database in
      try database.exists(
        """
        requests first JOIN requests r ON r.inbox = first.inbox AND r.idempotency_key = first.idempotency_key
          AND r.digest = first.digest AND r.conversation_id = first.conversation_id
        WHERE r.id = ? AND first.id < r.id AND first.state = 'queued'
          AND EXISTS (SELECT 1 FROM messages WHERE request_id = first.id AND state = 'relayed')
        """, message.requestRow)
    }
  }

  /// At most `limit` relayed requests after `row` that were accepted before a time.
  package func relayed(after row: Int64, before: Timestamp, limit: Int) async throws -> [RelayedRow] {
    try await ask { database in
      try RelayedRow.fetchAll(
        database.kept("\(RelayedRow.query) AND r.id > ? AND r.accepted_at < ? ORDER BY r.id LIMIT ?"),
        arguments: [row, before.milliseconds, limit])
    }
  }

  /// A relayed request without an end, by its name; nil if there is none.
  package func relayed(_ request: String) async throws -> RelayedRow? {
    try await ask { database in
      try RelayedRow.fetchOne(database.kept("\(RelayedRow.query) AND r.request = ?"), arguments: [request])
    }
  }

  /// The conversations with relayed messages.
  package func relayedConversations() async throws -> [ConversationID] {
    try await ask { database in
      try database.values(
        """
        SELECT DISTINCT c.conversation FROM messages m JOIN conversations c ON c.id = m.conversation_id
        WHERE m.state = 'relayed' AND m.draft = 0 AND \(LedgerSchema.waiting(in: "m."))
        """)
    }
  }

  /// How a request ended, and its published files; nil until then.
  package func end(of row: Int64) async throws -> (state: RequestState, published: [String])? {
    try await read { database in
      guard let request = try database.first(RequestRow.self, "WHERE id = ?", row), request.state != .queued else {
        return nil
      }
      let messages = try database.all(MessageRow.self, "WHERE request_id = ? ORDER BY position", row)
      return (request.state, messages.filter { $0.state == .sent }.map(\.file))
    }
  }

  /// Relays a request again that the cluster has lost, in a record of its own. Returns whether it was relayed and is not over.
  package func relayAgain(_ lost: RelayedRow, at now: Timestamp) async throws -> Bool {
    try await write { database in
      try database.run(
        "UPDATE messages SET state = 'publishing' WHERE request_id = ? AND state = 'relayed'", lost.row)
      let count = database.changesCount
      try database.run("UPDATE requests SET record = NULL WHERE id = ?", lost.row)
      guard count > 0, let conversation = try database.knownConversation(lost.conversation) else { return false }
      try database.addWaiting(count, to: conversation, now: now)
      try database.hurry(conversation, at: now)
      return true
    }
  }
}

/// A relayed request without an end.
package struct RelayedRow: Decodable, Sendable, FetchableRecord {
  package let row: Int64
  package let request: String
  package let acceptedAt: Timestamp
  package let conversation: ConversationID
  /// The record that had it; nil only of one that an earlier program relayed.
  package let record: RecordID?

  fileprivate static let query = """
    SELECT r.id AS row, r.request, r.accepted_at AS acceptedAt, r.record, c.conversation
    FROM requests r JOIN conversations c ON c.id = r.conversation_id
    WHERE r.state = 'queued' AND EXISTS (SELECT 1 FROM messages WHERE request_id = r.id AND state = 'relayed')
    """
}
