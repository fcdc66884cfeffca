import Clusters
import GRDB
import Messages

/// A record of the queue as its owner keeps it.
package struct OwnedRecord: Sendable {
  package let id: RecordID
  package let position: Position
  package let partition: Partition
  package let contents: RecordContents
  /// Whether an earlier owner may have published some of it, or given it up.
  package let isInherited: Bool

  package init(
    id: RecordID, position: Position, partition: Partition, contents: RecordContents, isInherited: Bool
  ) {
    self.id = id
    self.position = position
    self.partition = partition
    self.contents = contents
    self.isInherited = isInherited
  }
}

/// The effects of entering records.
package struct OwnedChanges: Sendable {
  /// Something may be due, or over.
  package var hasWork = false
  /// Orders that are carried out, in the order in which they are to be finished.
  package var finished: [Position] = []
  /// Messages that were cancelled.
  package var cancelled: [MessageID] = []
  /// Destinations are to be tried now.
  package var isFlushed = false

  package init() {}
}

/// The second ledger of a host in a cluster: the requests whose conversations it serves. It has the tables of the other one
/// and a table of texts. The queue is the truth, so it is emptied at every start, and nothing is synced.
///
/// Here `requests.request` is NAME@ID, `requests.inode` the record's position, and `requests.digest` its origin.
/// `OwnedEnd` says what `requests.filed` is.
extension Ledger {
  /// Empties the ledger. Objects that were stored and never published are still known, to be deleted.
  package func emptyOwned() async throws {
    try await write { database in
      try database.execute(
        sql: """
          CREATE TABLE IF NOT EXISTS owned_texts (message TEXT PRIMARY KEY, text TEXT NOT NULL) STRICT, WITHOUT ROWID;
          CREATE TABLE IF NOT EXISTS owned_orders (
            partition INTEGER NOT NULL, position INTEGER NOT NULL,
            subject TEXT NOT NULL, -- the request to cancel, or the held conversation
            PRIMARY KEY (partition, position)
          ) STRICT, WITHOUT ROWID;
          CREATE INDEX IF NOT EXISTS owned_records ON requests(record);
          CREATE INDEX IF NOT EXISTS owned_waiting ON requests(finished_at) WHERE \(OwnedEnd.isWaiting);
          DELETE FROM owned_texts; DELETE FROM owned_orders; DELETE FROM attempts; DELETE FROM photos;
          DELETE FROM requests; DELETE FROM received; DELETE FROM conversations;
          UPDATE uploads SET state = 'abandoned' WHERE state = 'started' OR state = 'deleting';
          DELETE FROM uploads WHERE state <> 'abandoned';
          """)
    }
  }

  /// Enters records in the order given, and carries out orders. Known ones are left as they are.
  package func own(_ records: [OwnedRecord], at now: Timestamp) async throws -> OwnedChanges {
    let changes = try await write { database in
      var changes = OwnedChanges()
      for record in records { try database.enter(record, &changes, at: now) }
      return changes
    }
    if changes.isFlushed { _ = try await flush(at: now) }
    return changes
  }

  /// Texts of waiting messages, in order, up to the first one that is gone.
  package func ownedTexts(of messages: [MessageID]) async throws -> [String] {
    try await ask { database in
      var texts: [String] = []
      for message in messages {
        let text: String? = try database.value("SELECT text FROM owned_texts WHERE message = ?", message)
        guard let text else { break }
        texts.append(text)
      }
      return texts
    }
  }

  /// An earlier owner did not publish this message, so it cannot have published the later ones of the conversation.
  package func endInheritance(behind message: QueuedMessage, at now: Timestamp) async throws {
    try await write { database in
      let own = try database.first(
        RequestRow.self, "WHERE id = ? AND request IN (SELECT subject FROM owned_orders)", message.requestRow)
      if let own {
        // An earlier owner may have cancelled it and gone on.
        _ = try database.cancelOwned(own, at: now)
        return
      }
      try database.run(
        """
        UPDATE messages SET state = 'pending', attempts = 0
        WHERE conversation_id = ? AND id > ? AND state = 'publishing' AND attempts = \(Inheritance.byOwner)
          AND begun_at IS NULL
        """, message.conversationRow, message.row)
      // Orders that came before it was known that nobody had published these.
      let cancelled = try database.all(
        RequestRow.self,
        "WHERE conversation_id = ? AND state = 'queued' AND request IN (SELECT subject FROM owned_orders)",
        message.conversationRow)
      for request in cancelled { _ = try database.cancelOwned(request, at: now) }
    }
  }

  /// Ends a request that another owner has given up or published: nothing more of it is published here.
  package func endElsewhere(_ message: QueuedMessage, at now: Timestamp) async throws {
    try await write { try $0.cancelRest(ofRequest: message.requestRow, in: message.conversationRow, at: now) }
  }

  /// The host that accepted a request; nil if its conversation has another owner now.
  package func origin(ofRequest row: Int64) async throws -> HostID? {
    try await ask { try $0.value("SELECT digest FROM requests WHERE id = ?", row) }
  }

  /// The messages of a request, with their photos once these are prepared.
  package func parts(ofRequest row: Int64) async throws -> [(own: MessageRow, photo: PhotoRow?)] {
    try await read { try $0.receiptMessages(ofRequest: row) }
  }

  /// The conversations with requests, and the held ones.
  package func servedConversations() async throws -> [ConversationRow] {
    try await ask { database in
      try database.all(
        ConversationRow.self,
        "WHERE held <> 0 OR EXISTS (SELECT 1 FROM requests WHERE conversation_id = conversations.id)")
    }
  }

  /// Forgets a partition that has another owner now, with its conversations. Returns their messages that were not over.
  package func disown(_ partition: Partition, _ conversations: [Int64]) async throws -> [MessageID] {
    try await write { database in
      try database.run("DELETE FROM owned_orders WHERE partition = ?", partition.number)
      var messages: [MessageID] = []
      for conversation in conversations {
        messages += try database.values(
          "SELECT message FROM messages WHERE conversation_id = ? AND \(LedgerSchema.waiting)", conversation)
        let requests: [Int64] = try database.values(
          "SELECT id FROM requests WHERE conversation_id = ?", conversation)
        for request in requests { try database.forgetOwned(request) }
        try database.run("UPDATE conversations SET waiting = 0, held = 0, waits_for = NULL WHERE id = ?", conversation)
      }
      return messages
    }
  }
}

/// The attempts of a message that arrives as perhaps published.
private enum Inheritance {
  static let byOwner = 1
  static let byOrigin = 2
}

extension Database {
  fileprivate func enter(_ record: OwnedRecord, _ changes: inout OwnedChanges, at now: Timestamp) throws {
    switch record.contents {
    case .requests(let requests):
      for request in requests where try own(request, record, isAlone: requests.count == 1, at: now) {
        changes.hasWork = true
      }
      if requests.count > 1, try !exists("requests WHERE record = ?", record.id.text) {
        // All were relayed again, each in a record of its own.
        changes.finished.append(record.position)
      } else if requests.count > 1 {
        _ = try tellWithLast(of: record.id)
      }
    case .cancel(let name, let id):
      try cancel("\(name)@\(id)", record, &changes, at: now)
    case .hold(let name):
      let conversation = try conversation(ConversationID(unchecked: name), now: now)
      try run("UPDATE conversations SET held = 1 WHERE id = ?", conversation)
      try note(record, of: name)
    case .release(let name):
      let conversation = try conversation(ConversationID(unchecked: name), now: now)
      try run("UPDATE conversations SET held = 0 WHERE id = ?", conversation)
      try hurry(conversation, at: now)
      // The holds first: after a crash in between, a hold without its release would stand for ever.
      changes.finished += try values(
        "SELECT position FROM owned_orders WHERE partition = ? AND subject = ? ORDER BY position",
        record.partition.number, name)
      changes.finished.append(record.position)
      try run("DELETE FROM owned_orders WHERE partition = ? AND subject = ?", record.partition.number, name)
      changes.hasWork = true
    case .flush:
      changes.isFlushed = true
      changes.hasWork = true
      changes.finished.append(record.position)
    }
  }

  private func note(_ order: OwnedRecord, of subject: String) throws {
    try run(
      "INSERT INTO owned_orders VALUES (?, ?, ?) ON CONFLICT (partition, position) DO NOTHING",
      order.partition.number, Int64(bitPattern: order.position), subject)
  }

  private func cancel(
    _ name: String, _ order: OwnedRecord, _ changes: inout OwnedChanges, at now: Timestamp
  ) throws {
    guard let request = try first(RequestRow.self, "WHERE request = ?", name) else {
      // It is over, and its fact tells how.
      return changes.finished.append(order.position)
    }
    changes.cancelled += try cancelOwned(request, at: now)
    try note(order, of: name)
    changes.hasWork = true
  }

  /// Cancels what is not published of a request. Returns the messages.
  fileprivate func cancelOwned(_ request: RequestRow, at now: Timestamp) throws -> [MessageID] {
    guard let conversation = request.conversationRow else { return [] }
    let cancellable = "state IN ('pending','preparing','uploading','uploaded')"
    let messages: [MessageID] = try values(
      "SELECT message FROM messages WHERE request_id = ? AND \(cancellable)", request.row)
    try cancelWaiting(ofRequest: request.row, in: conversation, where: cancellable)
    // Somebody waits for the answer.
    if try endRequestIfDone(request.row, at: now) != nil {
      try run(
        "UPDATE requests SET filed = \(OwnedEnd.now) WHERE id = ? AND filed = \(OwnedEnd.withRecord)", request.row)
    }
    try hurry(conversation, at: now)
    return messages
  }

  private func own(
    _ request: RelayedRequest, _ record: OwnedRecord, isAlone: Bool, at now: Timestamp
  ) throws -> Bool {
    let conversation = try conversation(ConversationID(unchecked: request.conversation), now: now)
    var row = RequestRow()
    // No client could write such a name: two origins may have the same.
    row.request = "\(request.request)@\(request.id)"
    row.record = record.id
    row.filed = isAlone ? OwnedEnd.now : OwnedEnd.withRecord
    row.droppedAs = request.request
    row.inode = record.position
    row.conversationRow = conversation
    row.inbox = InboxID(unchecked: request.inbox)
    row.digest = request.host.text
    row.state = .queued
    row.bytes = request.messages.reduce(0) { $0 + $1.bytes }
    row.acceptedAt = Timestamp(milliseconds: request.acceptedAt)
    guard let number = try insert(row, "ON CONFLICT (request) DO NOTHING") else { return false }
    for part in request.messages {
      let wasWaiting = try takeOver(part.message, at: now)
      var message = MessageRow()
      message.message = MessageID(unchecked: part.message)
      message.requestRow = number
      message.conversationRow = conversation
      message.position = part.position
      message.kind = part.kind
      message.file = part.file
      message.bytes = part.bytes
      message.digest = part.digest
      if part.mayBePublished || record.isInherited || wasWaiting {
        message.state = .publishing
        message.attempts = part.mayBePublished || wasWaiting ? Inheritance.byOrigin : Inheritance.byOwner
      }
      try insert(message)
      if let text = part.text {
        try run(
          "INSERT INTO owned_texts VALUES (?, ?) ON CONFLICT (message) DO UPDATE SET text = excluded.text",
          part.message, text)
      }
    }
    try addWaiting(request.messages.count, to: conversation, now: now)
    return true
  }

  /// Takes a message from an earlier request, whose record waits for others: it failed and was retried, or its origin's
  /// ledger was rebuilt. Returns whether it waited there.
  private func takeOver(_ message: String, at now: Timestamp) throws -> Bool {
    guard let former = try first(MessageRow.self, "WHERE message = ?", message) else { return false }
    try cancelRest(ofRequest: former.requestRow, in: former.conversationRow, at: now)
    try forgetMessage(message)
    try run("DELETE FROM messages WHERE id = ?", former.row)
    try run("UPDATE requests SET filed = \(OwnedEnd.now) WHERE id = ?", former.requestRow)
    return !former.state.isFinal
  }

  /// Cancels a request, except for what is over.
  fileprivate func cancelRest(ofRequest request: Int64, in conversation: Int64, at now: Timestamp) throws {
    try cancelWaiting(ofRequest: request, in: conversation)
    try run(
      "UPDATE requests SET state = 'cancelled', finished_at = ? WHERE id = ? AND state = 'queued'", now.milliseconds,
      request)
  }

  private func forgetMessage(_ message: String) throws {
    try run("DELETE FROM owned_texts WHERE message = ?", message)
    try run("DELETE FROM attempts WHERE message = ?", message)
    try run("DELETE FROM photos WHERE message = ?", message)
    try run("DELETE FROM uploads WHERE message = ? AND state IN ('published', 'offered')", message)
  }

  func forgetOwned(_ request: Int64) throws {
    let messages: [String] = try values("SELECT message FROM messages WHERE request_id = ?", request)
    for message in messages { try forgetMessage(message) }
    try run("DELETE FROM owned_orders WHERE subject = (SELECT request FROM requests WHERE id = ?)", request)
    try run("DELETE FROM requests WHERE id = ?", request)
  }
}

extension QueuedMessage {
  /// The id of a message's request in an owner's ledger; nil in any other.
  package var id: RecordID? { RecordID(inName: request) }

  /// The request's name at its origin.
  package var clientsName: String { id == nil ? request : droppedAs }
}

extension RecordID {
  /// - Parameter request: NAME@ID.
  /// - Returns: nil for any other name.
  init?(inName request: String) {
    guard let mark = request.lastIndex(of: "@") else { return nil }
    self.init(String(request[request.index(after: mark)...]))
  }
}
