import GRDB
import Messages

/// A draft's photo that will not be sent, whose uploads and cached files must be deleted. Its message may have another
/// photo by now.
package struct SupersededPhoto: Sendable, Equatable {
  package let message: MessageID
  package let source: PhotoSource
}

/// The ledger's answer to a draft.
package struct DraftEntry: Sendable, Equatable {
  package enum Change: String, Sendable {
    case new, changed, none
  }

  package let request: String
  /// The change since the last entry.
  package let change: Change
  package let superseded: [SupersededPhoto]
}

/// Drafts, which are requests that are not sent yet. Their photos have rows like all others, so that they can be
/// prepared and uploaded. They count for no conversation and have no place in the order until Send gives them new rows.
/// A draft that ends is *set aside* in one commit: it gets its own request in state `abandoned` without a directory.
/// That request is deleted once its uploads and cached photos are. After a crash the next start does this.
extension Ledger {
  /// Enters a valid draft, or its changes. An unchanged photo keeps its progress.
  ///
  /// - Returns: nil if the directory is no longer a draft, because it was sent or has failed.
  /// - Throws: `NamesTaken`.
  package func enterDraft(_ draft: NewRequest, at now: Timestamp) async throws -> DraftEntry? {
    try await write { try Acceptor(database: $0, now: now).enterDraft(draft) }
  }

  package func drafts() async throws -> [RequestRow] { try await ask { try $0.drafts("") } }

  /// The drafts that are, or were, in `draft/` under a name.
  package func drafts(droppedAs name: String) async throws -> [RequestRow] {
    try await ask { try $0.drafts("AND dropped_as = ?", name) }
  }

  /// The draft with a name, if any.
  package func draft(_ request: String) async throws -> RequestRow? {
    try await ask { try $0.drafts("AND request = ?", request).first }
  }

  /// The drafts followed by a later one of the same user, inbox and conversation.
  package func replacedDrafts() async throws -> [RequestRow] {
    try await ask { database in
      try database.drafts(
        """
        AND EXISTS (SELECT 1 FROM requests later WHERE later.state = 'draft' AND later.conversation_id =
          requests.conversation_id AND later.inbox = requests.inbox AND later.owner IS requests.owner
          AND later.id > requests.id)
        """)
    }
  }

  /// Sets a draft aside, so that it is not sent. Returns false if it is no longer a draft because it was sent.
  @discardableResult
  package func abandonDraft(_ draft: RequestRow) async throws -> Bool {
    try await write { database in
      guard try database.exists("requests WHERE id = ? AND state = 'draft'", draft.row) else { return false }
      try database.setAside(draft.row)
      try database.endSetAside(draft.row)
      return true
    }
  }

  /// The first `limit` requests that were set aside, with the photos whose uploads and cached files must be deleted.
  package func abandonedDrafts(limit: Int) async throws -> [(row: Int64, photos: [SupersededPhoto])] {
    try await read { database in
      let rows: [Int64] = try database.values(
        "SELECT id FROM requests WHERE state = 'abandoned' ORDER BY id LIMIT ?", limit)
      return try rows.map { row in
        let photos = try database.all("\(QueuedMessage.selection) WHERE m.request_id = ?", row) { QueuedMessage($0) }
        return (row, photos.map { SupersededPhoto(message: $0.message, source: $0.source) })
      }
    }
  }

  /// Deletes the rows of a request that was set aside, after its files.
  package func forgetAbandonedDraft(_ row: Int64) async throws {
    try await write { try $0.run("DELETE FROM requests WHERE id = ? AND state = 'abandoned'", row) }
  }

  // MARK: Upload ahead

  /// The first `limit` photos of each user's drafts in order of arrival, with the time of their next attempt, except
  /// those that cannot be sent as they are. The cost depends on `limit` and the number of users, not on the number of
  /// drafts.
  ///
  /// - Parameter areUploadedLeftOut: return only those of them that have to be uploaded.
  package func draftPhotos(
    limit: Int, areUploadedLeftOut: Bool = false
  ) async throws -> [(photo: QueuedMessage, nextAttempt: Timestamp?)] {
    try await read { database in
      var rows: [Int64] = []
      var owner = Int64.min
      while let next: Int64 = try database.value(LedgerSchema.nextOwnerOfDrafts, owner) {
        let photos: [(id: Int64, state: MessageState?)] = try database.all(LedgerSchema.photosOfOwner, next, limit) {
          ($0["id"], $0["state"])
        }
        rows += photos.filter { !areUploadedLeftOut || $0.state != .uploaded }.map(\.id)
        owner = next
      }
      return try rows.sorted().compactMap { row in
        try database.first("\(QueuedMessage.selection) WHERE m.id = ?", row) { QueuedMessage($0) }.map {
          ($0, $0.nextAttempt)
        }
      }
    }
  }

  /// Notes that a draft's photo could not be uploaded.
  ///
  /// - Parameter due: the next attempt; nil waits until the file changes or the draft is sent.
  /// - Returns: false, without a change, if it no longer belongs to a draft.
  package func postponeDraftPhoto(
    _ photo: QueuedMessage, error: DeliveryError, until due: Timestamp?
  ) async throws -> Bool {
    try await write { database in
      try database.run(
        """
        UPDATE messages SET state = 'pending', next_attempt = ?, cause = ?, error = ?
        WHERE message = ? AND digest = ? AND draft = 1 AND \(LedgerSchema.waiting)
        """,
        due?.milliseconds, error.cause.rawValue, error.sentence, photo.message.text, photo.digest)
      guard database.changesCount > 0 else { return false }
      try database.count(setback: error.cause)
      return true
    }
  }
}

extension LedgerSchema {
  static let nextOwnerOfDrafts = """
    SELECT \(owner) FROM requests INDEXED BY requests_drafts_owned WHERE state = 'draft' AND \(owner) > ?
      ORDER BY \(owner) LIMIT 1
    """
  /// The first photos of a user's drafts that can be sent as they are.
  static let photosOfOwner = """
    SELECT m.id, m.state FROM requests INDEXED BY requests_drafts_owned
      CROSS JOIN messages m INDEXED BY messages_request ON m.request_id = requests.id
    WHERE requests.state = 'draft' AND \(owner) = ?
      AND m.draft = 1 AND \(waiting(in: "m.")) AND (m.cause IS NULL OR m.next_attempt IS NOT NULL)
    ORDER BY requests.id, m.position LIMIT ?
    """
}

extension Acceptor {
  func enterDraft(_ new: NewRequest) throws -> DraftEntry? {
    guard case .success(let contents) = new.contents else { return nil }
    let known = try known(new)
    if let known, known.state != .draft { return nil }
    let photos = contents.parts.filter { $0.kind == .photo }
    if let known, try isUnchanged(known, new, to: contents.conversation, photos) {
      // A photo that could not be sent may be tried again.
      try database.run(
        "UPDATE messages SET cause = NULL, error = NULL, next_attempt = NULL WHERE request_id = ? AND cause IS NOT NULL",
        known.row)
      return DraftEntry(request: known.request, change: .none, superseded: [])
    }
    let name = name(of: new, known: known)
    if let known { try database.setAside(known.row) }
    let conversation = try database.conversation(contents.conversation, now: now)
    var row = RequestRow(new, as: name, to: conversation, at: now)
    row.state = .draft
    // The key and the digest of the contents are those at Send.
    row.key = nil
    row.digest = nil
    guard let request = try database.insert(row, "ON CONFLICT (request) DO NOTHING") else {
      throw NamesTaken(indices: [0])
    }
    let superseded = try insert(
      photos, of: name, request: request, conversation: conversation, inbox: new.inbox, isDraft: true)
    if let known { try database.endSetAside(known.row) }
    return DraftEntry(request: name, change: known == nil ? .new : .changed, superseded: superseded)
  }

  /// Accepts a draft that was moved into `new/`, and sets aside the photos that Send does not include.
  mutating func send(_ draft: RequestRow, as new: NewRequest) throws -> Acceptance? {
    try database.setAside(draft.row)
    var acceptance = try insert(new, as: name(of: new, known: draft))
    acceptance?.wasDraft = true
    try database.endSetAside(draft.row)
    return acceptance
  }

  /// The name of the request. Message ids depend on it, so it changes only if the client renamed the directory.
  private func name(of new: NewRequest, known: RequestRow?) -> String {
    if let known, known.droppedAs == new.droppedAs { return known.request }
    return new.name
  }

  /// Whether everything that matters before Send is unchanged.
  private func isUnchanged(
    _ known: RequestRow, _ new: NewRequest, to conversation: ConversationID, _ photos: [NewRequest.Part]
  ) throws -> Bool {
    let files = try database.all(MessageRow.self, "WHERE request_id = ? ORDER BY position", known.row)
    return try known.droppedAs == new.droppedAs && known.inbox == new.inbox && isOf(conversation, known)
      && files.map { [$0.file, $0.digest] } == photos.map { [$0.file, $0.digest] }
  }

  /// Removes the row of a draft's photo, which gets another place.
  func takeDraftPhoto(_ message: MessageID) throws -> QueuedMessage? {
    let photo = try database.first(
      "\(QueuedMessage.selection) WHERE m.message = ? AND m.draft = 1", message.text
    ) { QueuedMessage($0) }
    if photo != nil { try database.run("DELETE FROM messages WHERE message = ?", message.text) }
    return photo
  }
}

extension Database {
  fileprivate func drafts<each Value: SQLiteValue>(
    _ condition: String, _ values: repeat each Value
  ) throws -> [RequestRow] {
    // Otherwise SQLite would search all requests, for their order.
    try all(
      RequestRow.self, "INDEXED BY requests_drafts_named WHERE state = 'draft' \(condition)", repeat each values
    ).sorted { $0.row < $1.row }
  }

  /// Detaches a draft's request from its name and directory.
  func setAside(_ draft: Int64) throws {
    // Names of clients never start with a dot.
    try run("UPDATE requests SET request = '.' || id, inode = 0, born = 0, state = 'abandoned' WHERE id = ?", draft)
  }

  /// Ends the rest of a detached draft, and deletes it if nothing is left.
  func endSetAside(_ draft: Int64) throws {
    try run("UPDATE messages SET state = 'cancelled', next_attempt = NULL WHERE request_id = ?", draft)
    try run(
      "DELETE FROM requests WHERE id = ? AND NOT EXISTS (SELECT 1 FROM messages WHERE request_id = ?)", draft, draft)
  }
}
