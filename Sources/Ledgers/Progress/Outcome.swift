import FoundationEssentials
import GRDB
import Messages

/// The published form of a message.
package struct Published: Sendable {
  package let at: Timestamp
  /// The network's id of it, if it gives one.
  package let remote: String?
  /// A photo's attachment; its keys may be stored now.
  package let attachment: Attachment?
  /// When the stored photo is no longer expected to exist; nil if that is not known.
  package let remoteUntil: Timestamp?
  /// The network that published it.
  package let network: String

  package init(
    at: Timestamp, remote: String? = nil, attachment: Attachment? = nil, remoteUntil: Timestamp? = nil,
    network: String = ""
  ) {
    self.at = at
    self.remote = remote
    self.attachment = attachment
    self.remoteUntil = remoteUntil
    self.network = network
  }
}

/// How an attempt ends.
extension Ledger {
  /// Records a temporary error. The message and its conversation wait until `due`.
  ///
  /// - Parameters:
  ///   - step: `prepare`, `upload` or `publish`.
  ///   - keepsUpload: the sealed photo stays in the store for the next attempt.
  package func postpone(
    _ message: QueuedMessage, step: String, error: DeliveryError, until due: Timestamp, keepsUpload: Bool,
    at now: Timestamp
  ) async throws {
    try await write { database in
      guard try database.move(message, to: keepsUpload ? .uploaded : .pending) else { return }
      try database.run(
        """
        UPDATE messages SET next_attempt = ?, cause = ?, error = ?,
          offered_to = iif(? AND remote IS NULL, ?, offered_to)
        WHERE id = ?
        """, due.milliseconds, error.cause.rawValue, error.sentence, error.cause.hadNoEffect,
        message.offeredTo, message.row)
      try database.count(setback: error.cause)
      try database.note(error, of: message, step: step, at: now)
      try database.run("UPDATE conversations SET due = ? WHERE id = ?", due.milliseconds, message.conversationRow)
    }
  }

  /// Records a permanent error. The request fails, and its waiting messages are not sent.
  package func fail(
    _ message: QueuedMessage, step: String, error: DeliveryError, at now: Timestamp
  ) async throws {
    try await write { database in
      guard try database.move(message, to: .failed) else { return }
      try database.removeWaiting(1, from: message.conversationRow)
      try database.run(
        "UPDATE messages SET cause = ?, error = ?, next_attempt = NULL WHERE id = ?",
        error.cause.rawValue, error.sentence, message.row)
      try database.count(setback: error.cause)
      try database.note(error, of: message, step: step, at: now)
      // Nobody has seen what the network refused at the only attempt.
      if message.kind == .profile && message.attempts == 0 { try database.withdrawProfile(message) }
      try database.cancelWaiting(ofRequest: message.requestRow, in: message.conversationRow)
      try database.run(
        "UPDATE requests SET state = 'failed', cause = ?, error = ?, finished_at = ? WHERE id = ?",
        error.cause.rawValue, "\(message.file): \(error.sentence)", now.milliseconds, message.requestRow)
      try database.count(.failed)
    }
  }
}

extension Database {
  /// Records that a message is published. Committed before any message of its conversation begins that has not begun
  /// with it. Returns false, without a change, if it was already over. Otherwise the caller subtracts it from the
  /// waiting count.
  func markSent(_ message: QueuedMessage, _ published: Published, at now: Timestamp) throws -> Bool {
    let isWaiting = try move(
      message, to: .sent, setting: ", sent_at = ?, remote = ?, cause = NULL, error = NULL", published.at.milliseconds,
      published.remote)
    guard isWaiting else { return false }
    try count("sent.\(message.kind.rawValue)")
    try count("last_sent", latest: published.at.milliseconds)
    if let attachment = published.attachment {
      try run(
        """
        UPDATE photos SET url = ?, url_expires_at = ?, attachment = ?, uploaded_at = ?, viewed_at = ?, fetchable = 1,
          recency = ?
        WHERE message = ?
        """,
        attachment.url, published.remoteUntil, try String(decoding: Messages.json(attachment), as: UTF8.self),
        now.milliseconds, now.milliseconds, try nextRecency(), message.message.text)
      try run("UPDATE uploads SET state = 'published' WHERE message = ? AND state = 'offered'", message.message.text)
      // The published upload is in use; later ones are not.
      try run("UPDATE uploads SET state = 'abandoned' WHERE message = ? AND state = 'started'", message.message.text)
    }
    if message.kind.isOfProfile {
      try settleProfile(message, published, at: now)
    }
    return true
  }

  /// Writes an error into the running attempt, or into a new row if the network was not reached.
  fileprivate func note(_ error: DeliveryError, of message: QueuedMessage, step: String, at now: Timestamp) throws {
    if try endAttempt(of: message.message, at: now, cause: error.cause, error: error.sentence) { return }
    try run("UPDATE messages SET attempts = attempts + 1 WHERE id = ?", message.row)
    try insertAttempt(
      message.attempts + 1, of: message.message, step: step, from: now, to: now, cause: error.cause,
      error: error.sentence)
  }
}
