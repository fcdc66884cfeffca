import Clusters
import GRDB
import Messages

extension Ledger {
  /// The note in `janitor` of the last fact that was read.
  private static let factsRead = "cluster.facts"

  /// The position of the last fact whose ends are recorded; 0 at first.
  package func lastFactRead() async throws -> Position {
    let text: String? = try await ask { database in
      try database.value("SELECT value FROM janitor WHERE name = ?", Self.factsRead)
    }
    return text.flatMap { Position($0) } ?? 0
  }

  /// Records the ends of relayed requests, and up to where they were read, in one commit. An end is ignored if its request
  /// is over or purged, or is another acceptance of the same name.
  ///
  /// - Parameters:
  ///   - host: this one.
  ///   - position: of the last fact; nil if they were looked up.
  ///   - path: the directory of a photo in the cache.
  ///   - remoteUntil: when stored photos may be gone.
  /// - Returns: how many requests ended.
  package func end(
    _ ends: [RequestEnd], relayedBy host: HostID, upTo position: Position?,
    path: @escaping @Sendable (PhotoPlace) -> String, remoteUntil: Timestamp, at now: Timestamp
  ) async throws -> Int {
    try await write { database in
      let recorder = EndRecorder(database: database, path: path, remoteUntil: remoteUntil, now: now)
      let count = try ends.count { try recorder.record($0, relayedBy: host) }
      if let position {
        try database.run(
          "INSERT INTO janitor VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value",
          Self.factsRead, String(position))
      }
      return count
    }
  }
}

private struct EndRecorder {
  let database: Database
  let path: (PhotoPlace) -> String
  let remoteUntil: Timestamp
  let now: Timestamp

  func record(_ end: RequestEnd, relayedBy host: HostID) throws -> Bool {
    let found = try database.first(RequestRow.self, "WHERE request = ? AND state = 'queued'", end.request)
    guard let request = found, let conversation = request.conversationRow,
      RecordID(host: host, request: request.request, acceptedAt: request.acceptedAt) == end.id
    else { return false }
    let messages = try database.all(MessageRow.self, "WHERE request_id = ? ORDER BY position", request.row)
    let open = messages.filter { !$0.state.isFinal }
    guard Set(open.map(\.message.text)) == Set(end.messages.map(\.message)) else { return false }
    // Those of a doubtful attempt still count as waiting.
    try database.removeWaiting(open.count { $0.state != .relayed }, from: conversation)
    for (row, ended) in open.compactMap({ row in
      end.messages.first { $0.message == row.message.text }.map { (row, $0) }
    }) { try record(ended, of: row, request: request, conversation: conversation) }
    try database.run(
      "UPDATE requests SET state = ?, cause = ?, error = ?, finished_at = ? WHERE id = ?", end.state.rawValue,
      end.cause?.rawValue, end.error, end.finishedAt, request.row)
    try database.count(end.state)
    if let cause = end.cause { try database.count(setback: cause) }
    if end.state == .sent { try database.endDuplicates(of: request.row, at: now) }
    // A duplicate may wait for this.
    try database.hurry(conversation, at: now)
    return true
  }

  private func record(
    _ ended: RequestEnd.Message, of message: MessageRow, request: RequestRow, conversation: Int64
  ) throws {
    try database.run(
      """
      UPDATE messages SET state = ?, attempts = ?, cause = ?, error = ?, sent_at = ?, remote = ?, begun_at = ?,
        next_attempt = NULL, offered_to = NULL
      WHERE id = ?
      """, ended.state.rawValue, ended.attempts, ended.cause?.rawValue, ended.error, ended.sentAt, ended.remote,
      ended.state == .sent ? ended.sentAt : nil, message.row)
    guard ended.state == .sent else { return }
    try database.count("sent.\(message.kind.rawValue)")
    if let sentAt = ended.sentAt { try database.count("last_sent", latest: sentAt) }
    guard let photo = ended.photo else { return }
    let name: ConversationID? = try database.value("SELECT conversation FROM conversations WHERE id = ?", conversation)
    guard let name else { return }
    let place = PhotoPlace(inbox: request.inbox, conversation: name, message: message.message)
    var row = PhotoRow(
      format: photo.format, originalBytes: photo.originalBytes, originalWidth: photo.originalWidth,
      originalHeight: photo.originalHeight, bytes: photo.bytes, width: photo.width, height: photo.height,
      digest: photo.digest, path: path(place), thumbnailBytes: 0)
    // Its copy was on the owner's disk.
    row.cachedBytes = 0
    row.message = message.message
    row.inbox = request.inbox
    row.conversationRow = conversation
    row.file = message.file
    row.createdAt = now
    row.uploadedAt = now
    row.viewedAt = now
    row.url = photo.url
    row.attachment = photo.attachment
    row.isFetchable = photo.attachment != nil
    row.urlExpiresAt = photo.attachment == nil ? nil : remoteUntil
    row.recency = try database.nextRecency()
    try database.insert(row, "ON CONFLICT (message) DO NOTHING")
  }
}
