import Digests
import Messages

/// Seals bytes under a secret and a name, so that nobody without the secret can read them, change them, or pass them off
/// as the bytes of another name.
///
/// A version byte, a salt of 32 random bytes, and AES-256-GCM under HKDF-SHA256 of secret, salt and name. Every object has
/// a key of its own, so the nonce is constant.
package struct NamedSeal: Sendable {
  package static let version: UInt8 = 1
  private static let saltLength = 32
  private static let nonce = [UInt8](repeating: 0, count: 12)
  private let secret: [UInt8]

  /// - Parameter secret: random bytes; the cluster's configuration asks for 32 characters.
  package init(secret: [UInt8]) { self.secret = secret }

  package func seal(_ plain: [UInt8], as name: String) throws(DeliveryError) -> [UInt8] {
    let salt = try RandomBytes.make(Self.saltLength)
    var key = Derivation.hkdf(secret, salt: salt, info: name)
    defer { key.wipe() }
    return try [Self.version] + salt + AES256.gcm.encrypt(plain, key: key, vector: Self.nonce)
  }

  /// - Throws: `.unavailable` if a later version sealed it; `.decryptionFailed` for anything that `seal` did not make
  ///   under this secret and name.
  package func open(_ object: [UInt8], as name: String) throws(SealError) -> [UInt8] {
    guard let version = object.first, object.count > Self.saltLength else { throw .decryptionFailed }
    guard version == Self.version else {
      throw .unavailable("it has version \(version), and this program reads \(Self.version); upgrade photospool")
    }
    let salt = Array(object[1...Self.saltLength])
    var key = Derivation.hkdf(secret, salt: salt, info: name)
    defer { key.wipe() }
    return try AES256.gcm.decrypt(Array(object[(Self.saltLength + 1)...]), key: key, vector: Self.nonce)
  }
}
