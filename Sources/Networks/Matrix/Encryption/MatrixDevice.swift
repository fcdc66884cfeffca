import Matrix
import Olm

/// A device of a user, as a homeserver gave it, signed by itself.
struct MatrixDevice: Hashable, Sendable {
  let user: String
  let id: String
  let identityKey: Curve25519PublicKey
  let signingKey: Ed25519PublicKey
  /// The user's identity. A device whose owner has another one is another device.
  let master: Ed25519PublicKey?
  /// Whether the user's self-signing key signed it, and the user's master key that one.
  let isCrossSigned: Bool

  /// nil for an object that is not this user's device, or that the device did not sign.
  init?(
    _ object: JSONValue, user: String, id: String, master: Ed25519PublicKey? = nil, selfSigning: Ed25519PublicKey?
  ) {
    guard object["user_id"]?.text == user, object["device_id"]?.text == id,
      let identityKey = object["keys"]?["curve25519:\(id)"]?.text.flatMap({ Curve25519PublicKey(base64: $0) }),
      let signingKey = object["keys"]?["ed25519:\(id)"]?.text.flatMap({ Ed25519PublicKey(base64: $0) }),
      object.isSigned(by: signingKey, of: user, keyID: id)
    else { return nil }
    self.user = user
    self.id = id
    self.identityKey = identityKey
    self.signingKey = signingKey
    self.master = master
    isCrossSigned = selfSigning.map { object.isSigned(by: $0, of: user, keyID: $0.base64) } ?? false
  }
}

/// The public keys of a user in an answer to `keys/query`. Everything in it is untrusted until its signatures hold.
struct MatrixUserKeys: Sendable {
  /// More devices than any person has; further ones are ignored.
  static let mostDevices = 500

  let master: Ed25519PublicKey?
  /// Signed by the master key.
  let selfSigning: Ed25519PublicKey?
  /// Sorted by id.
  let devices: [MatrixDevice]

  static let none = MatrixUserKeys(.null, of: "")

  init(_ answer: JSONValue, of user: String) {
    let master = Self.key(answer["master_keys"]?[user], of: user, for: "master")
    let selfSigning = answer["self_signing_keys"]?[user]
    self.master = master
    if let master, let selfSigning, selfSigning.isSigned(by: master, of: user, keyID: master.base64) {
      self.selfSigning = Self.key(selfSigning, of: user, for: "self_signing")
    } else {
      self.selfSigning = nil
    }
    let objects = (answer["device_keys"]?[user]?.members ?? [:]).sorted { $0.key < $1.key }
    devices = objects.prefix(Self.mostDevices).compactMap { [key = self.selfSigning] id, object in
      MatrixDevice(object, user: user, id: id, master: master, selfSigning: key)
    }
  }

  private static func key(_ object: JSONValue?, of user: String, for usage: String) -> Ed25519PublicKey? {
    guard let object, object["user_id"]?.text == user,
      object["usage"]?.elements.contains(.text(usage)) == true, let keys = object["keys"]?.members, keys.count == 1,
      let (name, value) = keys.first, let text = value.text, let key = Ed25519PublicKey(base64: text),
      name == "ed25519:\(key.base64)"
    else { return nil }
    return key
  }
}
