import FoundationEssentials
import GRDB
import Messages
import Olm

/// A message to another device, before it is encrypted.
package struct DeviceMessage: Sendable {
  /// The owner of the device.
  let user: String
  /// The device's identity key.
  let device: Curve25519PublicKey
  let plain: [UInt8]

  package init(to device: Curve25519PublicKey, of user: String, _ plain: [UInt8]) {
    self.user = user
    self.device = device
    self.plain = plain
  }
}

/// A message to another device, to be sent.
package struct EncryptedMessage: Sendable {
  package let message: OlmSession.Encrypted
  /// The number of sessions that the device has opened so far. If it opens another one, it may have lost what it got.
  package let openings: Int
}

extension KeyFile {
  /// The largest number of Olm sessions that are kept for one device.
  static let mostSessionsOfDevice = 5

  /// The devices with which a session has to be opened before something can be sent to them.
  package func unreachable(
    _ devices: [Curve25519PublicKey], from own: OwnDevice
  ) async throws(DeliveryError) -> Set<Curve25519PublicKey> {
    try await change(sessionsOf: own) { database, live in
      Set(try devices.filter { try live.sending(to: $0, database) == nil })
    }
  }

  /// Encrypts messages to devices of members. The sessions are durable when this returns, so that answers to the
  /// messages can be opened whatever happens next.
  ///
  /// - Parameter opened: new sessions, by the identity keys of their devices.
  /// - Returns: the messages in order; nil without a session, and for a device whose keys are not usable.
  package func encrypt(
    _ messages: [DeviceMessage], opened: [Curve25519PublicKey: OlmSession], from own: OwnDevice, now: Timestamp
  ) async throws(DeliveryError) -> [EncryptedMessage?] {
    try await change(sessionsOf: own) { database, live in
      for message in messages {
        guard let session = opened[message.device] else { continue }
        try Self.write(session, with: message.device, of: message.user, isMember: true, now, database)
        live.use(session, with: message.device)
      }
      return try messages.map { message in
        // One device must not stop the others.
        guard var session = try live.sending(to: message.device, database),
          let encrypted = try? session.encrypt(message.plain)
        else { return nil }
        try Self.write(session, with: message.device, of: message.user, isMember: true, now, database)
        live.use(session, with: message.device)
        return EncryptedMessage(message: encrypted, openings: live.openings(by: message.device))
      }
    }
  }

  /// Stores a session, and removes the oldest ones of its device.
  static func write(
    _ session: OlmSession, with device: Curve25519PublicKey, of user: String, isMember: Bool = false,
    _ now: Timestamp, _ database: Database
  ) throws {
    let state = String(decoding: try JSONEncoder().encode(session), as: UTF8.self)
    try database.execute(
      sql: """
        INSERT INTO olm (session, senderKey, user, isMember, state, usedAt)
          VALUES (?, ?, ?, ? OR EXISTS (SELECT 1 FROM roomKeys WHERE user = ? AND isMember), ?, ?)
          ON CONFLICT DO UPDATE SET state = excluded.state, usedAt = excluded.usedAt,
            isMember = isMember OR excluded.isMember
        """,
      arguments: [session.id, device.base64, user, isMember, user, state, now.milliseconds])
    try database.execute(
      sql: """
        DELETE FROM olm WHERE session IN (SELECT session FROM olm WHERE senderKey = ?
          ORDER BY usedAt DESC, rowid DESC LIMIT -1 OFFSET ?)
        """, arguments: [device.base64, mostSessionsOfDevice])
  }
}
