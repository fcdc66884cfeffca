import Digests
import Messages

@testable import Matrix
@testable import Networks
@testable import Olm
@testable import RoomKeys

extension FuzzTarget {
  static let roomKeys: [FuzzTarget] = [toDevice, roomKey, encryptedEvent, userKeys]

  private static let room = "!room:example.org"

  private static let device: OwnDevice? = {
    guard let identity = pair(2), let signing = try? Ed25519KeyPair(seed: SecretBytes([UInt8](repeating: 4, count: 32)))
    else { return nil }
    return OwnDevice(user: "@me:example.org", id: "DEVICE", identity: identity, signing: signing)
  }()

  /// A message to our device, as `/sync` has it.
  static let toDevice = FuzzTarget(
    "to-device",
    words: [
      "{", "}", "\"", ":", ",", "type", "m.room.encrypted", "sender", "content", "algorithm",
      "m.olm.v1.curve25519-aes-sha2", "sender_key", "ciphertext", "body", "0", "1",
    ]
  ) { input throws(BrokenProperty) in
    guard let device, let oneTime = pair(3) else { throw BrokenProperty(description: "no keys") }
    guard let event = JSONValue(parsing: input), let envelope = OlmEnvelope(event, for: device) else { return }
    try hold(envelope.sender.utf8.count <= 255, "a sender is longer than any user")
    if case .preKey(let message) = envelope.body {
      try hold(message.keys.identityKey == envelope.senderKey, "it opens a session with another device")
      _ = try? OlmSession.accept(message, as: device.identity, oneTimeKey: oneTime)
    }
  }

  /// The decrypted content of such a message, which any stranger can write.
  static let roomKey = FuzzTarget(
    "room-key",
    words: [
      "{", "}", "\"", ":", ",", "type", "m.room_key", "content", "sender", "recipient", "recipient_keys", "ed25519",
      "keys", "algorithm", "m.megolm.v1.aes-sha2", "room_id", "session_id", "session_key",
    ]
  ) { input throws(BrokenProperty) in
    guard let device, let envelope = envelope(to: device) else { throw BrokenProperty(description: "no message") }
    guard let payload = OlmPayload(input, from: envelope.sender, to: device),
      let key = RoomKey(payload, from: envelope)
    else { return }
    try hold(key.user == envelope.sender && key.senderKey == envelope.senderKey, "it is another sender's key")
    try hold(key.key.signingKey.base64 == key.session, "the session is named like another key")
    try hold(key.room.utf8.count <= 255, "a room is longer than any")
  }

  private static func envelope(to device: OwnDevice) -> OlmEnvelope? {
    guard let mine = pair(1), let oneTime = pair(3),
      var session = try? OlmSession(from: mine, to: device.identity.publicKey, oneTimeKey: oneTime.publicKey),
      case .preKey(let bytes)? = try? session.encrypt([1])
    else { return nil }
    return OlmEnvelope(
      .object([
        "type": .text("m.room.encrypted"), "sender": .text("@you:example.org"),
        "content": .object([
          "algorithm": .text("m.olm.v1.curve25519-aes-sha2"), "sender_key": .text(mine.publicKey.base64),
          "ciphertext": .object([
            device.identity.publicKey.base64: .object(["type": .whole(0), "body": .text(bytes.unpaddedBase64)])
          ]),
        ]),
      ]), for: device)
  }

  /// An encrypted event of a timeline, which is kept until its key comes, and what was encrypted in it.
  static let encryptedEvent = FuzzTarget(
    "encrypted-event",
    words: [
      "{", "}", "\"", ":", ",", "type", "m.room.encrypted", "event_id", "sender", "content", "algorithm",
      "m.megolm.v1.aes-sha2", "session_id", "ciphertext", "m.relates_to", "rel_type", "m.replace", "room_id", room,
      "origin_server_ts", "state_key",
    ]
  ) { input throws(BrokenProperty) in
    let value = JSONValue(parsing: input)
    if let event = value.flatMap({ EncryptedEvent($0, in: room) }) {
      let again = EncryptedEvent(event.body, in: room)
      try hold(again?.id == event.id && again?.session == event.session, "kept, it is another event")
      try hold(again?.body == event.body && again?.sender == event.sender, "kept again, it is another event")
    }
    let kept = JSONValue.object([
      "type": .text("m.room.encrypted"), "event_id": .text("$1"), "sender": .text("@you:example.org"),
      "content": .object([
        "algorithm": .text("m.megolm.v1.aes-sha2"), "session_id": .text("s"), "ciphertext": .text(message),
      ]),
    ])
    guard let event = EncryptedEvent(kept, in: room) else { throw BrokenProperty(description: "no event") }
    guard let opened = try? event.decrypted(input) else { return }
    try hold(value?["room_id"]?.text == room, "an event of another room is opened")
    try hold(
      opened["event_id"] == .text("$1") && opened["sender"] == .text("@you:example.org"),
      "what was encrypted says who sent it")
  }

  private static let message: String = {
    guard let signing = try? Ed25519KeyPair(seed: SecretBytes([UInt8](repeating: 4, count: 32))) else { return "" }
    var session = OutboundMegolmSession(
      ratchet: MegolmRatchet([UInt8](repeating: 5, count: MegolmRatchet.length)[...], at: 0), signingKey: signing)
    return ((try? session.encrypt([1])) ?? []).unpaddedBase64
  }()

  /// An answer to `keys/query`, and the rules of a room.
  static let userKeys = FuzzTarget(
    "user-keys",
    words: [
      "{", "}", "[", "]", "\"", ":", ",", "master_keys", "self_signing_keys", "device_keys", "user_id", "usage",
      "master",
      "self_signing", "keys", "ed25519:", "curve25519:", "signatures", "@you:example.org", "device_id",
      "rotation_period_msgs", "rotation_period_ms",
    ]
  ) { input throws(BrokenProperty) in
    guard let answer = JSONValue(parsing: input) else { return }
    let keys = MatrixUserKeys(answer, of: "@you:example.org")
    try hold(keys.devices.count <= MatrixUserKeys.mostDevices, "there are too many devices")
    try hold(
      keys.selfSigning != nil || keys.devices.allSatisfy { !$0.isCrossSigned }, "a device is signed by no identity")
    if let session = try? MatrixRoomSession(answer, at: Timestamp(milliseconds: 0)) {
      try hold(1...100 ~= session.mostMessages, "a session lasts for \(session.mostMessages) messages")
      try hold(session.mostSeconds <= 604_800, "a session lasts for \(session.mostSeconds) s")
    }
  }
}
