import Digests
import GRDB
import Matrix
import Messages
import Olm

/// A Megolm session that a device gave us: the content of an `m.room_key`.
struct RoomKey {
  let room: String
  let session: String
  let user: String
  let senderKey: Curve25519PublicKey
  let fingerprint: Ed25519PublicKey
  let key: MegolmSessionKey

  /// nil for an invalid one. A session has the name of the key that signs it.
  init?(_ payload: OlmPayload, from envelope: OlmEnvelope) {
    let content = payload.content
    guard content["algorithm"]?.text == "m.megolm.v1.aes-sha2", let room = content["room_id"]?.text,
      room.utf8.count <= 255, let session = content["session_id"]?.text,
      let bytes = content["session_key"]?.text.flatMap({ [UInt8](base64: $0) }),
      let key = try? MegolmSessionKey(shared: bytes), key.signingKey.base64 == session
    else { return nil }
    self.room = room
    self.session = session
    self.key = key
    user = envelope.sender
    senderKey = envelope.senderKey
    fingerprint = payload.fingerprint
  }

  /// Keeps the key, unless one of its session and user is there that opens as much. A session once known is only ever
  /// replaced by itself, as known from an earlier message.
  ///
  /// - Returns: whether its sender is not yet known as a member of the room.
  func keep(_ now: Timestamp, in database: Database) throws -> Bool {
    let row = try Row.fetchOne(
      database,
      sql: "SELECT key, senderKey, fingerprint, isVerified FROM roomKeys WHERE room = ? AND session = ? AND user = ?",
      arguments: [room, session, user])
    if let row, let bytes = [UInt8](base64: row["key"] as String),
      let known = try? MegolmSessionKey(exported: bytes)
    {
      let isEarlier = key.index < known.index && known.isSame(as: key)
      // A device that was not found yet must not keep the others of its user from naming their session.
      let isOtherDevice = row["senderKey"] != senderKey.base64 || row["fingerprint"] != fingerprint.base64
      guard row["isVerified"] as Bool ? isEarlier && !isOtherDevice : isEarlier || isOtherDevice else { return false }
    }
    let isMember =
      try Bool.fetchOne(
        database, sql: "SELECT max(isMember) FROM roomKeys WHERE room = ? AND user = ?", arguments: [room, user])
      ?? false
    try database.execute(
      sql: """
        INSERT OR REPLACE INTO roomKeys (room, session, user, senderKey, fingerprint, isVerified, isMember, key, receivedAt)
          VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
        """,
      arguments: [
        room, session, user, senderKey.base64, fingerprint.base64, row?["isVerified"] ?? false, isMember,
        key.exported.bytes.unpaddedBase64, now.milliseconds,
      ])
    try database.execute(
      sql: "UPDATE waiting SET retryAt = 0 WHERE room = ? AND session = ? AND user = ?",
      arguments: [room, session, user])
    return !isMember
  }
}
