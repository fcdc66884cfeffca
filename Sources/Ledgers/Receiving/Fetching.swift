import GRDB
import Messages

/// A received photo that is to be fetched.
package struct WantedPhoto: Sendable {
  package let message: MessageID
  package let inbox: InboxID
  package let conversation: ConversationID
  /// The message's id on its network.
  package let remote: String
  /// The photo's place in its message; 0 is the first.
  package let position: Int
  /// Who sent it; nil when nobody said so.
  package let sender: SenderID?
  /// SHA-256 of the attachment as it was dropped, in hexadecimal.
  package let attachmentDigest: String
  package let receivedAt: Timestamp
  package let photo: RemotePhoto
  /// Of ours: it was sent from here and is fetched again.
  package let isOwn: Bool
  /// The number of this attempt since it was wanted; 1 is the first.
  package let attempt: Int
  package let wantedAt: Timestamp
}

/// How a download ended in the ledger.
package enum DownloadEnd: Sendable, Equatable {
  case kept
  /// Files of it are gone, and nothing was changed: it has to be kept again.
  case evicted
  /// It is not being downloaded any more, or was purged, and nothing was changed.
  case unknown
}

/// The steps of a received photo. Those that answer false have changed nothing: it was purged or left that state meanwhile.
extension Ledger {
  /// Sets back what a dead process had in hand.
  package func recoverReceived() async throws {
    try await write { database in
      try database.execute(sql: "UPDATE received SET state = 'wanted', next_attempt = NULL WHERE state = 'downloading'")
    }
  }

  /// Begins the downloads that are due, at most `limit` of them, in the order in which they were received.
  ///
  /// - Parameter perHost: as many as this are fetched from one host at a time. Photos of a host that has them wait for
  ///   their turn, and those of others go ahead.
  package func beginDownloads(limit: Int, perHost: Int, at now: Timestamp) async throws -> [WantedPhoto] {
    try await write { database in
      var begun = [WantedPhoto]()
      while begun.count < limit {
        guard
          let row = try Row.fetchOne(
            database.kept(
              """
              SELECT r.*, c.conversation FROM received r JOIN conversations c ON c.id = r.conversation_id
              WHERE r.\(LedgerSchema.wanted) AND (r.next_attempt IS NULL OR r.next_attempt <= ?)
                AND \(LedgerSchema.hasTurn) AND c.purged = 0 ORDER BY r.id LIMIT 1
              """),
            arguments: [now.milliseconds, perHost]), let wanted = try database.begin(row, at: now)
        else { break }
        begun.append(wanted)
      }
      return begun
    }
  }

  /// Begins the download of one photo, due or not; nil when it is not wanted.
  package func beginDownload(of message: MessageID, at now: Timestamp) async throws -> WantedPhoto? {
    try await write { database in
      try Row.fetchOne(
        database,
        sql: """
          SELECT r.*, c.conversation FROM received r JOIN conversations c ON c.id = r.conversation_id
          WHERE r.message = ? AND r.\(LedgerSchema.wanted) AND c.purged = 0
          """,
        arguments: [message.text]
      ).flatMap { try database.begin($0, at: now) }
    }
  }

  /// When the next download is due that would find its host free; nil when none is.
  package func nextDownload(perHost: Int) async throws -> Timestamp? {
    try await ask { database in
      try Int64.fetchOne(
        database.kept(
          """
          SELECT coalesce(r.next_attempt, 0) FROM received r JOIN conversations c ON c.id = r.conversation_id
          WHERE r.\(LedgerSchema.wanted) AND \(LedgerSchema.hasTurn) AND c.purged = 0 ORDER BY r.next_attempt LIMIT 1
          """),
        arguments: [perHost]
      ).map(Timestamp.init(milliseconds:))
    }
  }

  /// An attempt failed for a reason that can pass.
  package func postponeDownload(
    of message: MessageID, error: DeliveryError?, until next: Timestamp?
  ) async throws -> Bool {
    try await write { database in
      guard try database.move(message, .postpone) else { return false }
      try database.execute(
        sql: "UPDATE received SET next_attempt = ?, cause = ?, error = ? WHERE message = ?",
        arguments: [next?.milliseconds, error?.cause.rawValue, error?.sentence, message.text])
      if let error { try database.count("download_setbacks.\(error.cause.rawValue)") }
      return true
    }
  }

  /// It cannot be had. Its keys stay, for whoever wants it again.
  package func failDownload(of message: MessageID, error: DeliveryError) async throws -> Bool {
    try await write { database in
      guard try database.move(message, .fail) else { return false }
      try database.execute(
        sql: "UPDATE received SET next_attempt = NULL, cause = ?, error = ? WHERE message = ?",
        arguments: [error.cause.rawValue, error.sentence, message.text])
      try database.count("download_setbacks.\(error.cause.rawValue)")
      return true
    }
  }

  /// The photo is in the cache, whole and on the disk. An eviction of its former copy can have taken the new one with it,
  /// so that `isThere` looks while nobody else writes.
  ///
  /// - Parameter remoteUntil: from when on nobody counts on the stored object any more.
  package func endDownload(
    of wanted: WantedPhoto, as photo: PhotoRow, file: String, remoteUntil: Timestamp, at now: Timestamp,
    isThere: @escaping @Sendable () throws -> Bool
  ) async throws -> DownloadEnd {
    try await write { database in
      guard try isThere() else {
        return try database.receivedState(of: wanted.message) == .downloading ? .evicted : .unknown
      }
      guard try database.move(wanted.message, .finish) else { return .unknown }
      try database.count("downloads")
      try database.execute(
        sql: "UPDATE received SET next_attempt = NULL, cause = NULL, error = NULL WHERE message = ?",
        arguments: [wanted.message.text])
      try database.execute(
        sql: """
          INSERT INTO photos (message, inbox, conversation_id, file, format, original_bytes, original_width,
            original_height, bytes, width, height, digest, path, thumbnail_bytes, url, url_expires_at, created_at,
            downloaded_at, cached_bytes, cached_thumbnail_bytes, fetchable, recency)
          SELECT message, inbox, conversation_id, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 1, ?
            FROM received WHERE message = ?
          ON CONFLICT (message) DO UPDATE SET bytes = excluded.bytes, width = excluded.width, height = excluded.height,
            digest = excluded.digest, thumbnail_bytes = excluded.thumbnail_bytes, cached_bytes = excluded.cached_bytes,
            cached_thumbnail_bytes = excluded.cached_thumbnail_bytes, downloaded_at = excluded.downloaded_at,
            evicting = 0, recency = excluded.recency
          """,
        arguments: [
          file, photo.format, photo.originalBytes, photo.originalWidth, photo.originalHeight, photo.bytes, photo.width,
          photo.height, photo.digest, photo.path, photo.thumbnailBytes, wanted.photo.url, remoteUntil.milliseconds,
          now.milliseconds, now.milliseconds, photo.bytes, photo.thumbnailBytes, try database.nextRecency(),
          wanted.message.text,
        ])
      return .kept
    }
  }

  /// Those of `messages` that nobody wants, or that are not known any more: what came of them can go.
  package func unwanted(_ messages: [String]) async throws -> [String] {
    try await read { database in
      try messages.filter { message in
        try Bool.fetchOne(
          database,
          sql: "SELECT EXISTS (SELECT 1 FROM received WHERE message = ? AND state IN ('wanted','downloading'))",
          arguments: [message]) != true
      }
    }
  }
}

extension Database {
  /// Ends all waiting of photos for their next attempt.
  func hurryDownloads() throws {
    try execute(
      sql: "UPDATE received SET next_attempt = NULL WHERE \(LedgerSchema.wanted) AND next_attempt IS NOT NULL")
  }

  /// How far a received photo has come; nil when it is not known.
  func receivedState(of message: MessageID) throws -> ReceivedState? {
    try String.fetchOne(self, sql: "SELECT state FROM received WHERE message = ?", arguments: [message.text])
      .flatMap(ReceivedState.init(rawValue:))
  }

  /// The one place where a received photo changes its state.
  ///
  /// - Returns: false, and nothing changed, when that cannot happen now.
  func move(_ message: MessageID, _ event: ReceivedState.Event) throws -> Bool {
    guard let next = try receivedState(of: message)?.after(event) else { return false }
    try execute(sql: "UPDATE received SET state = ? WHERE message = ?", arguments: [next.rawValue, message.text])
    return true
  }

  fileprivate func begin(_ row: Row, at now: Timestamp) throws -> WantedPhoto? {
    let message = MessageID(unchecked: row["message"])
    guard try move(message, .begin) else { return nil }
    try execute(sql: "UPDATE received SET attempts = attempts + 1 WHERE message = ?", arguments: [message.text])
    return WantedPhoto(
      message: message, inbox: InboxID(unchecked: row["inbox"]),
      conversation: ConversationID(unchecked: row["conversation"]), remote: row["remote"], position: row["position"],
      sender: (row["sender"] as String?).map(SenderID.init(unchecked:)), attachmentDigest: row["digest"],
      receivedAt: Timestamp(milliseconds: row["received_at"]), photo: try RemotePhoto(json: row["attachment"]),
      isOwn: row["own"], attempt: row["attempts"] + 1,
      wantedAt: Timestamp(milliseconds: row["wanted_at"] ?? now.milliseconds))
  }
}
