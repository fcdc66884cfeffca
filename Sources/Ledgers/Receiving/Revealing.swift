import FoundationEssentials
import GRDB
import Messages

extension Ledger {
  /// The result of a request for a photo.
  package enum Wish: Sendable, Equatable {
    case granted
    /// Nothing changed.
    case already
    case unknown
    /// It was sent from here, and is never hidden.
    case own
    /// It cannot be fetched from anywhere.
    case gone
  }

  /// Reveals a photo. Its conversation becomes known, and its preferences apply to later photos.
  package func reveal(_ message: MessageID, at now: Timestamp) async throws -> Wish {
    try await write { database in
      guard let row = try database.first(ReceivedRow.self, "WHERE message = ?", message) else { return .unknown }
      if row.isOwn { return .own }
      try database.setPreference(.hasRevealed, "yes", of: row.conversationRow)
      try database.run("UPDATE conversations SET known = 1 WHERE id = ?", row.conversationRow)
      if row.revealedAt != nil { return .already }
      try database.run("UPDATE received SET revealed_at = ? WHERE message = ?", now.milliseconds, message.text)
      return .granted
    }
  }

  /// Hides a photo that was revealed. Nothing else changes: its conversation stays known, and its preferences still
  /// apply to later photos.
  ///
  /// - Parameter hasPreview: whether the blurred preview of a photo is in the cache. Without it, a photo that cannot be
  ///   fetched stays as it is (`gone`), because nothing could be shown of it.
  package func hide(
    _ message: MessageID, hasPreview: @escaping @Sendable (InboxID, ConversationID) throws -> Bool
  ) async throws -> Wish {
    try await write { database in
      guard let row = try database.first(ReceivedRow.self, "WHERE message = ?", message) else { return .unknown }
      if row.isOwn { return .own }
      if row.revealedAt == nil { return .already }
      let conversation: ConversationID? = try database.value(
        "SELECT conversation FROM conversations WHERE id = ?", row.conversationRow)
      guard let conversation else { return .unknown }
      if try row.attachment == LedgerSchema.lostAttachment && !hasPreview(row.inbox, conversation) { return .gone }
      try database.run("UPDATE received SET revealed_at = NULL WHERE message = ?", message.text)
      return .granted
    }
  }

  /// Requests a photo that is not in the cache: announced, failed or evicted, received or sent. It is due at once.
  package func want(_ message: MessageID, at now: Timestamp) async throws -> Wish {
    try await write { database in
      let attachment: String? = try database.value("SELECT attachment FROM received WHERE message = ?", message)
      if attachment == LedgerSchema.lostAttachment { return .gone }
      if attachment == nil {
        guard try database.enterOwn(message, at: now) else {
          return try database.exists("photos WHERE message = ?", message) ? .gone : .unknown
        }
      }
      guard try database.move(message, .want) else {
        return try database.receivedState(of: message) == .forgotten ? .gone : .already
      }
      try database.run(
        """
        UPDATE received SET next_attempt = NULL, attempts = 0, wanted_at = ?, cause = NULL, error = NULL
        WHERE message = ? AND state = 'wanted'
        """, now.milliseconds, message.text)
      return .granted
    }
  }
}

extension Database {
  /// Inserts a sent photo that is fetched again, with its published attachment; false if that is unknown. Its position
  /// differs from any received photo's, whose message may have the same id.
  fileprivate func enterOwn(_ message: MessageID, at now: Timestamp) throws -> Bool {
    guard let own = try first(PhotoRow.self, "WHERE message = ?", message), let attachment = own.attachment,
      let photo = try? RemotePhoto(json: attachment)
    else { return false }
    var row = ReceivedRow()
    row.message = message
    row.inbox = own.inbox
    row.conversationRow = own.conversationRow
    row.remote = message.text
    row.position = -1
    row.isOwn = true
    row.digest = own.digest
    row.attachment = try photo.json()
    row.host = photo.host
    row.receivedAt = now
    row.revealedAt = now
    try insert(row)
    return true
  }
}
