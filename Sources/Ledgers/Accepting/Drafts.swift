import GRDB
import Messages

/// A draft as the ledger knows it.
package struct Draft: Sendable, Equatable {
  package let row: Int64
  package let request: String
  /// Its name in `draft/`.
  package let droppedAs: String
  package let inode: UInt64
  package let born: Int64
}

/// A draft's photo that will not be sent: what is on its way, or stored, of it is to be erased. Its message may have
/// another photo by now.
package struct SupersededPhoto: Sendable, Equatable {
  package let message: MessageID
  package let source: PhotoSource
}

/// What the ledger made of a draft.
package struct DraftEntry: Sendable, Equatable {
  package enum Change: String, Sendable {
    case new, changed, none
  }

  package let request: String
  /// Since it was last written down.
  package let change: Change
  package let superseded: [SupersededPhoto]
}

/// Drafts: requests that nobody has sent yet. Their photos have rows like all others, so that they can be prepared and
/// uploaded, but they count for no conversation and stand in no order before Send, which gives them new rows.
///
/// What ends of a draft is *set aside* in one commit: it gets a request of its own in state `abandoned`, which lies in
/// no directory any more, and goes when its uploads and cached photos are removed. A crash leaves that to the next start.
extension Ledger {
  /// Writes down a good draft, or how it has changed. A photo that is the same keeps how far it has come.
  ///
  /// - Parameters:
  ///   - isTaken: whether a directory of that name exists that the ledger may not know.
  ///   - alternative: the `number`-th name to try for a request whose own is taken.
  /// - Returns: nil when the directory is known as something else: it was sent, or it failed and is no draft any more.
  package func enterDraft(
    _ draft: NewRequest, at now: Timestamp, isTaken: @escaping @Sendable (String) -> Bool,
    alternative: @escaping @Sendable (_ name: String, _ number: Int) -> String
  ) async throws -> DraftEntry? {
    try await write { database in
      try Acceptor(database: database, now: now, isTaken: isTaken, alternative: alternative).enterDraft(draft)
    }
  }

  /// All drafts.
  package func drafts() async throws -> [Draft] { try await drafts("", []) }

  /// The drafts that lie, or lay, in `draft/` under a name.
  package func drafts(droppedAs name: String) async throws -> [Draft] {
    try await drafts("AND dropped_as = ?", [name])
  }

  /// The draft that is known by a name; nil when none is.
  package func draft(_ request: String) async throws -> Draft? {
    try await drafts("AND request = ?", [request]).first
  }

  /// The drafts behind which a later one of the same user has the same inbox and conversation.
  package func replacedDrafts() async throws -> [Draft] {
    try await drafts(
      """
      AND EXISTS (SELECT 1 FROM requests later WHERE later.state = 'draft' AND later.conversation_id =
        requests.conversation_id AND later.inbox = requests.inbox AND later.owner IS requests.owner
        AND later.id > requests.id)
      """, [])
  }

  private func drafts(_ condition: String, _ arguments: StatementArguments) async throws -> [Draft] {
    try await ask { database in
      // By itself SQLite would look for them among all requests that ever were, to have them in order.
      try Row.fetchAll(
        database.kept(
          """
          SELECT id, request, dropped_as, inode, born FROM requests INDEXED BY requests_drafts_named
          WHERE state = 'draft' \(condition)
          """),
        arguments: arguments
      ).map { row in
        Draft(
          row: row["id"], request: row["request"], droppedAs: row["dropped_as"],
          inode: UInt64(bitPattern: row["inode"]), born: row["born"])
      }.sorted { $0.row < $1.row }
    }
  }

  /// Sets a draft aside: it will not be sent.
  ///
  /// - Returns: false when it is none any more: it was sent before.
  @discardableResult
  package func abandonDraft(_ draft: Draft) async throws -> Bool {
    try await write { database in
      let isDraft = try Bool.fetchOne(
        database.kept("SELECT EXISTS (SELECT 1 FROM requests WHERE id = ? AND state = 'draft')"), arguments: [draft.row]
      )
      guard isDraft == true else { return false }
      try database.setAside(draft.row)
      try database.endSetAside(draft.row)
      return true
    }
  }

  /// The first `limit` requests that were set aside, with the photos whose uploads and cached files are to be removed.
  package func abandonedDrafts(limit: Int) async throws -> [(row: Int64, photos: [SupersededPhoto])] {
    try await read { database in
      try Int64.fetchAll(
        database.kept("SELECT id FROM requests WHERE state = 'abandoned' ORDER BY id LIMIT ?"), arguments: [limit]
      ).map { row in
        let photos = try database.all("\(QueuedMessage.selection) WHERE m.request_id = ?", row) { QueuedMessage($0) }
        return (row, photos.map { SupersededPhoto(message: $0.message, source: $0.source) })
      }
    }
  }

  /// Nothing else is left of what was set aside: its rows go.
  package func forgetAbandonedDraft(_ row: Int64) async throws {
    try await write { database in
      try database.run(
        "DELETE FROM requests WHERE id = ? AND state = 'abandoned'", row)
    }
  }

  // MARK: Upload ahead

  /// The first `limit` photos of each user's drafts, in the order in which they came, and when each may be tried again. Those
  /// that cannot be sent as they are, are not among them.
  ///
  /// Costs as much as `limit` for each user, however many drafts there are.
  ///
  /// - Parameter areUploadedLeftOut: of these photos, only those that are to be uploaded are returned.
  package func draftPhotos(
    limit: Int, areUploadedLeftOut: Bool = false
  ) async throws -> [(photo: QueuedMessage, nextAttempt: Timestamp?)] {
    try await read { database in
      var rows: [Int64] = []
      var owner = Int64.min
      while let next: Int64 = try database.value(LedgerSchema.nextOwnerOfDrafts, owner) {
        let photos: [(id: Int64, state: String)] = try database.all(LedgerSchema.photosOfOwner, next, limit) {
          ($0[0], $0[1])
        }
        rows += photos.filter { !areUploadedLeftOut || $0.state != MessageState.uploaded.rawValue }.map(\.id)
        owner = next
      }
      return try rows.sorted().compactMap { row in
        try database.first("\(QueuedMessage.selection) WHERE m.id = ?", row) {
          (QueuedMessage($0), $0.time(QueuedMessage.Column.nextAttempt))
        }
      }
    }
  }

  /// A draft's photo could not be brought to its store.
  ///
  /// - Parameter due: when to try again; nil: not before its file changes, or it is sent.
  /// - Returns: false, and nothing is changed, when it is no draft's any more.
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
  /// The user behind another one who has drafts.
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
      // What could not be sent before may be looked at again.
      try database.run(
        "UPDATE messages SET cause = NULL, error = NULL, next_attempt = NULL WHERE request_id = ? AND cause IS NOT NULL",
        known.id)
      return DraftEntry(request: known.request, change: .none, superseded: [])
    }
    let name = try name(of: new, known: known)
    if let known { try database.setAside(known.id) }
    let conversation = try database.conversation(contents.conversation, now: now)
    // Its key and the digest of its contents are those of the moment of Send.
    try database.run(
      """
      INSERT INTO requests (request, dropped_as, inode, born, conversation_id, inbox, state, bytes, accepted_at, owner)
      VALUES (?, ?, ?, ?, ?, ?, 'draft', ?, ?, ?)
      """,
      name, new.droppedAs, Int64(bitPattern: new.inode), new.born, conversation, new.inbox.text,
      contents.parts.reduce(0) { $0 + $1.bytes }, now.milliseconds, new.owner)
    let superseded = try insert(
      photos, of: name, request: database.lastInsertedRowID, conversation: conversation, inbox: new.inbox, isDraft: true
    )
    if let known { try database.endSetAside(known.id) }
    return DraftEntry(request: name, change: known == nil ? .new : .changed, superseded: superseded)
  }

  /// Accepts a draft that was moved into `new/`. What Send does not take of it is set aside.
  mutating func send(_ draft: Known, as new: NewRequest) throws -> Acceptance {
    let name = try name(of: new, known: draft)
    try database.setAside(draft.id)
    var acceptance = try insert(new, asFree: name)
    acceptance.wasDraft = true
    try database.endSetAside(draft.id)
    return acceptance
  }

  /// The ids of messages are made from the name, so that a directory keeps it unless its client gave it another one.
  private func name(of new: NewRequest, known: Known?) throws -> String {
    if let known, known.droppedAs == new.droppedAs { return known.request }
    return try freeName(for: new.droppedAs)
  }

  /// Whether nothing that matters before Send has changed since the draft was written down.
  private func isUnchanged(
    _ known: Known, _ new: NewRequest, to conversation: ConversationID, _ photos: [NewRequest.Part]
  ) throws -> Bool {
    let place = try Row.fetchOne(
      database.kept(
        """
        SELECT c.conversation, r.inbox FROM requests r JOIN conversations c ON c.id = r.conversation_id WHERE r.id = ?
        """),
      arguments: [known.id])
    let files = try Row.fetchAll(
      database.kept("SELECT file, digest FROM messages WHERE request_id = ? ORDER BY position"), arguments: [known.id])
    return known.droppedAs == new.droppedAs && place?["conversation"] == conversation.text
      && place?["inbox"] == new.inbox.text
      && files.map { [$0["file"] as String, $0["digest"]] } == photos.map { [$0.file, $0.digest] }
  }

  /// Takes the row of a draft's photo away, for one in another place.
  func takeDraftPhoto(_ message: MessageID) throws -> QueuedMessage? {
    let photo = try database.first(
      "\(QueuedMessage.selection) WHERE m.message = ? AND m.draft = 1", message.text
    ) { QueuedMessage($0) }
    if photo != nil { try database.run("DELETE FROM messages WHERE message = ?", message.text) }
    return photo
  }
}

extension Database {
  /// Takes a draft's request out of the way: its name is free, and it is no directory's any more.
  func setAside(_ draft: Int64) throws {
    // No client's name starts with a dot.
    try run(
      "UPDATE requests SET request = '.' || id, inode = 0, born = 0, state = 'abandoned' WHERE id = ?", draft)
  }

  /// Ends what is left of it; nothing being left, it goes at once.
  func endSetAside(_ draft: Int64) throws {
    try run(
      "UPDATE messages SET state = 'cancelled', next_attempt = NULL WHERE request_id = ?", draft)
    try run(
      "DELETE FROM requests WHERE id = ? AND NOT EXISTS (SELECT 1 FROM messages WHERE request_id = ?)", draft, draft)
  }
}
