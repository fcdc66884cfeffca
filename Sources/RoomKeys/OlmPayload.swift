import Digests
import Matrix
import Olm

/// A message to our device, still encrypted: an `m.room.encrypted` event of `to_device`.
struct OlmEnvelope {
  enum Body {
    case preKey(OlmPreKeyMessage)
    case normal(OlmMessage)
  }

  let sender: String
  let senderKey: Curve25519PublicKey
  let body: Body

  /// nil for anything else, and for a message that is not encrypted for `device`.
  init?(_ event: JSONValue, for device: OwnDevice) {
    guard event["type"]?.text == "m.room.encrypted", let content = event["content"],
      content["algorithm"]?.text == "m.olm.v1.curve25519-aes-sha2", let sender = event["sender"]?.text,
      sender.utf8.count <= 255,
      let senderKey = content["sender_key"]?.text.flatMap({ Curve25519PublicKey(base64: $0) }),
      let message = content["ciphertext"]?[device.identity.publicKey.base64],
      let bytes = message["body"]?.text.flatMap({ [UInt8](base64: $0) })
    else { return nil }
    switch message["type"] {
    case .whole(0):
      guard let message = try? OlmPreKeyMessage(bytes), message.keys.identityKey == senderKey else { return nil }
      body = .preKey(message)
    case .whole(1):
      guard let message = try? OlmMessage(bytes) else { return nil }
      body = .normal(message)
    default: return nil
    }
    self.sender = sender
    self.senderKey = senderKey
  }
}

/// The content of a decrypted message to our device. Source: the Matrix specification, `m.olm.v1.curve25519-aes-sha2`.
struct OlmPayload {
  let type: String
  let content: JSONValue
  /// The signing key that the sending device claims.
  let fingerprint: Ed25519PublicKey

  /// nil unless it names its sender and us, so that nobody can pass on what was written to others.
  init?(_ plain: [UInt8], from sender: String, to device: OwnDevice) {
    guard let payload = JSONValue(parsing: plain), let type = payload["type"]?.text, let content = payload["content"],
      payload["sender"]?.text == sender, payload["recipient"]?.text == device.user,
      payload["recipient_keys"]?["ed25519"]?.text == device.signing.publicKey.base64,
      let fingerprint = payload["keys"]?["ed25519"]?.text.flatMap({ Ed25519PublicKey(base64: $0) })
    else { return nil }
    self.type = type
    self.content = content
    self.fingerprint = fingerprint
  }
}
