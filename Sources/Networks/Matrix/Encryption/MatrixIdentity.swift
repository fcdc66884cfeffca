import Matrix
import Olm

/// The secret keys of one account on this machine: those of the device, and those with which the account signs its
/// devices.
struct MatrixIdentity: Codable, Sendable {
  /// The account's cross-signing keys. An identity that another client made is joined with its self-signing key alone.
  struct CrossSigning: Codable, Sendable {
    let master: Ed25519KeyPair?
    let selfSigning: Ed25519KeyPair
    let userSigning: Ed25519KeyPair?
  }

  let user: String
  let device: String
  let identityKey: Curve25519KeyPair
  let signingKey: Ed25519KeyPair
  /// Whether the homeserver took the device's keys.
  var isPublished = false
  var crossSigning: CrossSigning?
  /// Whether the homeserver took the identity that this machine made.
  var isIdentityPublished = false

  /// Keys of a new device.
  init(user: String, device: String) throws(OlmError) {
    self.user = user
    self.device = device
    identityKey = try Curve25519KeyPair()
    signingKey = try Ed25519KeyPair()
  }

  /// The object of `keys/upload`, signed by the device.
  func deviceKeys() throws(OlmError) -> JSONValue {
    let object = JSONValue.object([
      "user_id": .text(user), "device_id": .text(device),
      "algorithms": .list([.text("m.olm.v1.curve25519-aes-sha2"), .text("m.megolm.v1.aes-sha2")]),
      "keys": .object([
        "curve25519:\(device)": .text(identityKey.publicKey.base64),
        "ed25519:\(device)": .text(signingKey.publicKey.base64),
      ]),
    ])
    return try object.signed(by: signingKey, of: user, keyID: device)
  }

  /// The body of `device_signing/upload`; nil unless this machine made the identity.
  func crossSigningKeys() throws(OlmError) -> JSONValue? {
    guard let crossSigning, let master = crossSigning.master, let userSigning = crossSigning.userSigning else {
      return nil
    }
    let masterID = master.publicKey.base64
    func object(_ pair: Ed25519KeyPair, _ usage: String) -> JSONValue {
      .object([
        "user_id": .text(user), "usage": .list([.text(usage)]),
        "keys": .object(["ed25519:\(pair.publicKey.base64)": .text(pair.publicKey.base64)]),
      ])
    }
    return .object([
      "master_key": try object(master, "master").signed(by: signingKey, of: user, keyID: device),
      "self_signing_key": try object(crossSigning.selfSigning, "self_signing")
        .signed(by: master, of: user, keyID: masterID),
      "user_signing_key": try object(userSigning, "user_signing").signed(by: master, of: user, keyID: masterID),
    ])
  }
}

extension MatrixIdentity.CrossSigning {
  /// A new identity.
  init() throws(OlmError) {
    master = try Ed25519KeyPair()
    selfSigning = try Ed25519KeyPair()
    userSigning = try Ed25519KeyPair()
  }
}
