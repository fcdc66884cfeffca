import GRDB
import Messages

extension Ledger {
  /// Accepts requests in the order given, in one transaction. After that nothing of them can be lost.
  ///
  /// A refused request gets a row in state `failed`. A directory that failed before and returned is the same request:
  /// its published messages stay published, and only the rest is queued. A sent draft takes its place in the order, and
  /// its photos keep their progress.
  ///
  /// - Parameter isStillThere: whether the directory is still where it was read. Asked for requests that the ledger has as
  ///   filed: they may have been read before an earlier acceptance moved, sent and filed them.
  /// - Throws: `NamesTaken`.
  package func accept(
    _ requests: [NewRequest], at now: Timestamp, isStillThere: @escaping @Sendable (NewRequest) -> Bool = { _ in true }
  ) async throws -> [Acceptance] {
    try await write { database in
      var acceptor = Acceptor(database: database, now: now)
      let acceptances = try requests.map { try acceptor.accept($0, isStillThere: isStillThere) }
      let taken = acceptances.indices.filter { acceptances[$0] == nil }
      if !taken.isEmpty { throw NamesTaken(indices: taken) }
      try acceptor.countWaiting()
      return acceptances.compactMap { $0 }
    }
  }
}

/// Writes requests into the ledger, within one transaction.
struct Acceptor {
  let database: Database
  let now: Timestamp
  /// Row ids of known conversations.
  var conversations: [ConversationID: Int64] = [:]
  /// Inserted messages that their conversation does not count yet, by its row.
  var uncounted: [Int64: Int] = [:]

  /// Accepts one request. Call `countWaiting` after the last one.
  ///
  /// - Returns: nil if another request has its name.
  mutating func accept(_ new: NewRequest, isStillThere: (NewRequest) -> Bool = { _ in true }) throws -> Acceptance? {
    if let known = try known(new, isStillThere: isStillThere) {
      try countWaiting()
      if known.state == .draft { return try send(known, as: new) }
      if !known.isFiled || !isStillThere(new) {
        return Acceptance(
          droppedAs: new.droppedAs, request: known.request, state: known.state, error: known.error, wasKnown: true)
      }
      if known.state == .failed { return try revive(known, as: new) }
    }
    return try insert(new, as: new.name)
  }

  /// Adds the inserted messages to the counts of their conversations.
  mutating func countWaiting() throws {
    for (conversation, count) in uncounted { try database.addWaiting(count, to: conversation, now: now) }
    uncounted = [:]
  }

  private mutating func row(of conversation: ConversationID) throws -> Int64 {
    if let row = conversations[conversation] { return row }
    let row = try database.conversation(conversation, now: now)
    conversations[conversation] = row
    return row
  }

  func known(_ new: NewRequest, isStillThere: (NewRequest) -> Bool = { _ in true }) throws -> RequestRow? {
    let found = try database.first(
      RequestRow.self, "WHERE inode = ? AND born = ? ORDER BY id DESC LIMIT 1", new.inode, new.born)
    guard let known = found else { return nil }
    let isSame = new.born != 0 || isSame(known, as: new) || known.isFiled && !isStillThere(new)
    return isSame ? known : nil
  }

  /// Whether a directory without a time of birth is the known one and not a later one with its inode.
  private func isSame(_ known: RequestRow, as new: NewRequest) -> Bool {
    // Send compares each photo of a draft.
    if known.state == .draft { return true }
    if known.isFiled { return known.state == .failed && new.isMarked(known.error ?? "failed") }
    guard [known.droppedAs, known.request].contains(new.droppedAs) else { return false }
    // A request that could not be read has no digest.
    guard let before = known.digest, let now = try? new.contents.get().digest else { return true }
    return before == now
  }

  // MARK: A request that was not seen before

  /// - Returns: nil, without a new row, if another request has that name.
  mutating func insert(_ new: NewRequest, as name: String) throws -> Acceptance? {
    let (contents, verdict) = (try? new.contents.get(), try judge(new))
    let conversation = try contents.map { try row(of: $0.conversation) }
    var request = RequestRow(new, as: name, to: conversation, at: now)
    request.state = verdict.state
    request.cause = verdict.cause
    request.error = verdict.error
    request.duplicateOf = verdict.duplicateOf
    request.finishedAt = verdict.state == .queued ? nil : now
    guard let row = try database.insert(request, "ON CONFLICT (request) DO NOTHING") else { return nil }
    try database.count(verdict.state)
    var acceptance = Acceptance(
      droppedAs: new.droppedAs, request: name, state: verdict.state, error: verdict.error, wasKnown: false)
    if verdict.state == .queued, let contents, let conversation {
      acceptance.superseded = try insert(
        contents.parts, of: name, request: row, conversation: conversation, inbox: new.inbox)
      uncounted[conversation, default: 0] += contents.parts.count
    }
    return acceptance
  }

  private struct Verdict {
    var state: RequestState
    var cause: Cause?
    var error: String?
    /// The earlier request with the same key and contents. If it is unsent, this one waits for it.
    var duplicateOf: String?
  }

  private func judge(_ new: NewRequest) throws -> Verdict {
    switch new.contents {
    case .failure(let refusal):
      return Verdict(state: .failed, cause: refusal.cause, error: refusal.sentence)
    case .success(let contents):
      guard let key = contents.key,
        let earlier = try database.first(
          RequestRow.self,
          "WHERE inbox = ? AND idempotency_key = ? AND (state = 'sent' OR state = 'queued') ORDER BY id LIMIT 1",
          new.inbox, key)
      else { return Verdict(state: .queued) }
      let isThere = try isOf(contents.conversation, earlier)
      if isThere && earlier.digest == contents.digest {
        return Verdict(state: earlier.state == .sent ? .duplicate : .queued, duplicateOf: earlier.request)
      }
      let difference = isThere ? "with other contents" : "in another conversation, and an id counts for the whole inbox"
      return Verdict(
        state: .failed, cause: .conflict,
        error: "the id \(key) was used by request \(earlier.request) \(difference); choose another id, or none")
    }
  }

  func isOf(_ conversation: ConversationID, _ request: RequestRow) throws -> Bool {
    let row: Int64? = try database.value("SELECT id FROM conversations WHERE conversation = ?", conversation)
    return row != nil && row == request.conversationRow
  }

  /// Appends messages in their order. A photo that the ledger knows from a draft, with the same file and place, keeps
  /// its progress.
  ///
  /// - Parameter ids: existing message ids, by file.
  /// - Returns: the draft's photos whose files have changed.
  func insert(
    _ parts: [NewRequest.Part], of name: String, request: Int64, conversation: Int64, inbox: InboxID,
    isDraft: Bool = false, knownAs ids: [String: MessageID] = [:]
  ) throws -> [SupersededPhoto] {
    var superseded = [SupersededPhoto]()
    for (position, part) in parts.enumerated() {
      let message = ids[part.file] ?? part.message(name)
      var state = MessageState.pending
      if part.kind.hasPhoto, let photo = try takeDraftPhoto(message) {
        let isSame = photo.digest == part.digest && photo.conversationRow == conversation && photo.inbox == inbox
        if isSame && !photo.state.isFinal {
          state = photo.state
        } else {
          superseded.append(SupersededPhoto(message: message, source: photo.source))
        }
      }
      var row = MessageRow()
      row.message = message
      row.requestRow = request
      row.conversationRow = conversation
      row.position = position
      row.kind = part.kind
      row.file = part.file
      row.bytes = part.bytes
      row.digest = part.digest
      row.state = state
      row.isDraft = isDraft
      try database.insert(row)
      if part.kind == .photo { try database.pin(message) }
    }
    return superseded
  }

  // MARK: A request that failed before

  private func revive(_ known: RequestRow, as new: NewRequest) throws -> Acceptance {
    let (contents, verdict) = (try? new.contents.get(), try judge(new))
    // In `failed/` it had its own name, but clients still ask for it by the name that they gave it.
    let droppedAs = new.droppedAs == known.request ? known.droppedAs : new.droppedAs
    guard let contents, verdict.state != .failed else {
      try database.run(
        """
        UPDATE requests SET dropped_as = ?, cause = ?, error = ?, finished_at = ?, filed = 0 WHERE id = ?
        """, droppedAs, verdict.cause?.rawValue, verdict.error, now.milliseconds, known.row)
      return Acceptance(
        droppedAs: new.droppedAs, request: known.request, state: .failed, error: verdict.error, wasKnown: false)
    }
    let conversation = try database.conversation(contents.conversation, now: now)
    let messages = try database.all(MessageRow.self, "WHERE request_id = ?", known.row)
    let published = Set(messages.filter { $0.state == .sent }.map(\.file))
    // An attempt may have succeeded, and an earlier version may have made the id in another way.
    let unsent = messages.filter { $0.state != .sent }
    let ids = Dictionary(unsent.map { ($0.file, $0.message) }) { $1 }
    for message in unsent {
      try database.endAttempt(of: message.message, at: now, cause: nil, error: Database.interrupted)
    }
    try database.run("DELETE FROM messages WHERE request_id = ? AND state <> 'sent'", known.row)
    let rest = verdict.state == .duplicate ? [] : contents.parts.filter { !published.contains($0.file) }
    let state: RequestState = verdict.state == .queued && rest.isEmpty ? .sent : verdict.state
    try database.run(
      """
      UPDATE requests SET dropped_as = ?, conversation_id = ?, inbox = ?, idempotency_key = ?, digest = ?, state = ?,
        cause = NULL, error = NULL, bytes = ?, duplicate_of = ?, accepted_at = ?, finished_at = ?, filed = 0,
        record = NULL
      WHERE id = ?
      """,
      droppedAs, conversation, new.inbox.text, contents.key, contents.digest, state.rawValue,
      contents.parts.reduce(0) { $0 + $1.bytes }, state == .sent ? nil : verdict.duplicateOf, now.milliseconds,
      rest.isEmpty ? now.milliseconds : nil, known.row)
    try database.count(state)
    if state == .sent { try database.endDuplicates(of: known.row, at: now) }
    let superseded = try insert(
      rest, of: known.request, request: known.row, conversation: conversation, inbox: new.inbox, knownAs: ids)
    for message in unsent {
      try database.run(
        "DELETE FROM attempts WHERE message = ?1 AND NOT EXISTS (SELECT 1 FROM messages WHERE message = ?1)",
        message.message)
    }
    if known.isRestored {
      try database.run(
        "UPDATE messages SET state = 'publishing', attempts = 1 WHERE request_id = ? AND state = 'pending'",
        known.row)
    }
    try database.addWaiting(rest.count, to: conversation, now: now)
    return Acceptance(
      droppedAs: new.droppedAs, request: known.request, state: state, error: nil, wasKnown: false,
      superseded: superseded)
  }
}
