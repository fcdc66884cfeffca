import GRDB
import Messages

/// A received photo to fetch.
@dynamicMemberLookup
package struct WantedPhoto: Sendable {
  /// As it was before this attempt.
  fileprivate let row: ReceivedRow
  package let conversation: ConversationID
  package let photo: RemotePhoto
  package let wantedAt: Timestamp

  /// The number of this attempt since the request, from 1.
  package var attempt: Int { row.attempts + 1 }
  /// Its place in the cache.
  package var place: PhotoPlace { PhotoPlace(inbox: row.inbox, conversation: conversation, message: row.message) }
  package subscript<Value>(dynamicMember path: KeyPath<ReceivedRow, Value>) -> Value { row[keyPath: path] }
}

/// The result of a download.
package enum DownloadEnd: Sendable, Equatable {
  case kept
  /// Its files were evicted. Nothing was changed; keep the photo again.
  case evicted
  /// It is no longer being downloaded, or was purged. Nothing was changed.
  case unknown
}

/// The steps of a received photo. They return false, without a change, if it was purged or changed its state.
extension Ledger {
  /// Resets the downloads of a process that died.
  package func recoverReceived() async throws {
    try await write { database in
      try database.run("UPDATE received SET state = 'wanted', next_attempt = NULL WHERE state = 'downloading'")
    }
  }

  /// Begins at most `limit` due downloads, in order of arrival.
  ///
  /// - Parameter perHost: the downloads from one host at a time. Further photos of that host wait, and those of others
  ///   go ahead.
  package func beginDownloads(limit: Int, perHost: Int, at now: Timestamp) async throws -> [WantedPhoto] {
    try await write { database in
      var begun = [WantedPhoto]()
      while begun.count < limit {
        let next: MessageID? = try database.value(
          """
          SELECT r.message FROM received r JOIN conversations c ON c.id = r.conversation_id
          WHERE r.\(LedgerSchema.wanted) AND (r.next_attempt IS NULL OR r.next_attempt <= ?)
            AND \(LedgerSchema.hasTurn) AND c.purged = 0 ORDER BY r.id LIMIT 1
          """, now, perHost)
        guard let next, let wanted = try database.begin(next, at: now) else { break }
        begun.append(wanted)
      }
      return begun
    }
  }

  /// Begins the download of one photo, due or not; nil if it is not wanted.
  package func beginDownload(of message: MessageID, at now: Timestamp) async throws -> WantedPhoto? {
    try await write { try $0.begin(message, at: now) }
  }

  /// The next due time of a download whose host is free, if any.
  package func nextDownload(perHost: Int) async throws -> Timestamp? {
    try await ask { database in
      try database.value(
        """
        SELECT coalesce(r.next_attempt, 0) FROM received r JOIN conversations c ON c.id = r.conversation_id
        WHERE r.\(LedgerSchema.wanted) AND \(LedgerSchema.hasTurn) AND c.purged = 0 ORDER BY r.next_attempt LIMIT 1
        """, perHost)
    }
  }

  /// Records a temporary error, or an interruption without one.
  @discardableResult
  package func postponeDownload(
    of message: MessageID, error: DeliveryError?, until next: Timestamp?
  ) async throws -> Bool {
    try await write { try $0.endDownload(of: message, .postpone, error, until: next) }
  }

  /// Records a permanent error. The keys stay for the next request.
  @discardableResult
  package func failDownload(of message: MessageID, error: DeliveryError) async throws -> Bool {
    try await write { try $0.endDownload(of: message, .fail, error) }
  }

  /// Records that the photo is in the cache, durably. An eviction of its former copy may have deleted the new files, so
  /// `isThere` checks while nothing else writes.
  ///
  /// - Parameter remoteUntil: when the stored object is no longer expected to exist.
  package func endDownload(
    of wanted: WantedPhoto, as photo: PhotoRow, file: String, remoteUntil: Timestamp, at now: Timestamp,
    isThere: @escaping @Sendable () throws -> Bool
  ) async throws -> DownloadEnd {
    try await write { database in
      guard try isThere() else {
        return try database.receivedState(of: wanted.message) == .downloading ? .evicted : .unknown
      }
      guard try database.endDownload(of: wanted.message, .finish) else { return .unknown }
      try database.count("downloads")
      var photo = photo
      photo.message = wanted.message
      photo.inbox = wanted.inbox
      photo.conversationRow = wanted.conversationRow
      photo.file = file
      photo.url = wanted.photo.url
      photo.urlExpiresAt = remoteUntil
      photo.createdAt = now
      photo.downloadedAt = now
      photo.isFetchable = true
      photo.recency = try database.nextRecency()
      try database.insert(photo, Self.fetchedAgain)
      return .kept
    }
  }

  private static let fetchedAgain = """
    ON CONFLICT (message) DO UPDATE SET evicting = 0, \(Table.replacing(
      "bytes", "width", "height", "digest", "thumbnail_bytes", "cached_bytes", "cached_thumbnail_bytes",
      "downloaded_at", "recency"))
    """

  /// Those of `messages` that are unknown or not wanted, whose files can be deleted.
  package func unwanted(_ messages: [String]) async throws -> [String] {
    try await read { database in
      try messages.filter { message in
        try !database.exists("received WHERE message = ? AND state IN ('wanted','downloading')", message)
      }
    }
  }
}

extension Database {
  /// Makes all waiting downloads due.
  func hurryDownloads() throws {
    try run("UPDATE received SET next_attempt = NULL WHERE \(LedgerSchema.wanted) AND next_attempt IS NOT NULL")
  }

  /// The state of a received photo; nil if unknown.
  func receivedState(of message: MessageID) throws -> ReceivedState? {
    try value("SELECT state FROM received WHERE message = ?", message)
  }

  /// The only code that changes the state of a received photo. Returns false, without a change, if the event does not
  /// apply.
  func move(_ message: MessageID, _ event: ReceivedState.Event) throws -> Bool {
    guard let next = try receivedState(of: message)?.after(event) else { return false }
    try run("UPDATE received SET state = ? WHERE message = ?", next.rawValue, message.text)
    return true
  }

  fileprivate func endDownload(
    of message: MessageID, _ event: ReceivedState.Event, _ error: DeliveryError? = nil, until next: Timestamp? = nil
  ) throws -> Bool {
    guard try move(message, event) else { return false }
    try run(
      "UPDATE received SET next_attempt = ?, cause = ?, error = ? WHERE message = ?", next, error?.cause,
      error?.sentence, message)
    if let error { try count("download_setbacks.\(error.cause.rawValue)") }
    return true
  }

  /// nil if it is not wanted, or its conversation is purged.
  fileprivate func begin(_ message: MessageID, at now: Timestamp) throws -> WantedPhoto? {
    guard let row = try first(ReceivedRow.self, "WHERE message = ?", message),
      let conversation = try first(ConversationRow.self, "WHERE id = ? AND purged = 0", row.conversationRow),
      try move(message, .begin)
    else { return nil }
    try run("UPDATE received SET attempts = attempts + 1 WHERE message = ?", message)
    return WantedPhoto(
      row: row, conversation: conversation.conversation, photo: try RemotePhoto(json: row.attachment),
      wantedAt: row.wantedAt ?? now)
  }
}
