import Digests
import FoundationEssentials
import GRDB
import Messages

extension Ledger {
  /// What became of a photo that somebody wanted, or wanted to see.
  package enum Wish: Sendable, Equatable {
    case granted
    /// It was so already.
    case already
    case unknown
    /// There is nothing that it could be fetched from.
    case gone
  }

  /// Shows a photo from now on. The conversation is known from then on, and its preferences decide over later photos.
  package func reveal(_ message: MessageID, at now: Timestamp) async throws -> Wish {
    try await write { database in
      guard
        let row = try Row.fetchOne(
          database, sql: "SELECT conversation_id, revealed_at FROM received WHERE message = ?",
          arguments: [message.text])
      else { return .unknown }
      let conversation: Int64 = row["conversation_id"]
      try database.setPreference(.hasRevealed, "yes", of: conversation)
      try database.execute(sql: "UPDATE conversations SET known = 1 WHERE id = ?", arguments: [conversation])
      if row["revealed_at"] as Int64? != nil { return .already }
      try database.execute(
        sql: "UPDATE received SET revealed_at = ? WHERE message = ?", arguments: [now.milliseconds, message.text])
      return .granted
    }
  }

  /// Somebody wants a photo that is not in the cache: one that was only announced, that could not be had, or that was
  /// evicted, also one that was sent from here. It is due at once.
  package func want(_ message: MessageID, at now: Timestamp) async throws -> Wish {
    try await write { database in
      let attachment = try String.fetchOne(
        database, sql: "SELECT attachment FROM received WHERE message = ?", arguments: [message.text])
      if attachment == LedgerSchema.lostAttachment { return .gone }
      if attachment == nil {
        guard try database.enterOwn(message, at: now) else {
          let isSent = try Bool.fetchOne(
            database, sql: "SELECT EXISTS (SELECT 1 FROM photos WHERE message = ?)", arguments: [message.text])
          return isSent == true ? .gone : .unknown
        }
      }
      guard try database.move(message, .want) else {
        return try database.receivedState(of: message) == .forgotten ? .gone : .already
      }
      try database.execute(
        sql: """
          UPDATE received SET next_attempt = NULL, attempts = 0, wanted_at = ?, cause = NULL, error = NULL
          WHERE message = ? AND state = 'wanted'
          """,
        arguments: [now.milliseconds, message.text])
      return .granted
    }
  }
}

extension Database {
  /// Enters a photo of ours, which is to be fetched again, with what was published of it; false when that is not known. Its
  /// position is that of no photo of others, whose message may be called like it.
  fileprivate func enterOwn(_ message: MessageID, at now: Timestamp) throws -> Bool {
    guard
      let row = try Row.fetchOne(
        self, sql: "SELECT inbox, conversation_id, attachment, digest FROM photos WHERE message = ?",
        arguments: [message.text]),
      let attachment = row["attachment"] as String?, let photo = try? RemotePhoto(json: attachment)
    else { return false }
    try execute(
      sql: """
        INSERT INTO received (message, inbox, conversation_id, remote, position, own, digest, attachment, host, state,
          received_at, revealed_at)
        VALUES (?, ?, ?, ?, -1, 1, ?, ?, ?, 'offered', ?, ?)
        """,
      arguments: [
        message.text, row["inbox"], row["conversation_id"], message.text, row["digest"], try photo.json(),
        photo.host, now.milliseconds, now.milliseconds,
      ])
    return true
  }
}
