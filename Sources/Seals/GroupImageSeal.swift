import Digests
import Messages

/// A profile photo in an XMTP group, sealed as in the Convos app: the bare photo under AES-256-GCM. Source: the Convos
/// app's image encryption. The key is HKDF-SHA256 of the group's image key with a 32-byte salt and the info
/// `ConvosImageV1`. The nonce has 12 bytes, and the 16-byte tag follows the ciphertext. There is no associated data and
/// no envelope. Members get salt and nonce, which alone open nothing.
package struct GroupImageSeal: Seal {
  private let group: GroupImageKey
  private let random: @Sendable (Int) throws(DeliveryError) -> [UInt8]

  static let info = "ConvosImageV1"

  /// - Parameter random: returns that many random bytes; tests use known ones.
  package init(
    _ group: GroupImageKey, random: @escaping @Sendable (Int) throws(DeliveryError) -> [UInt8] = RandomBytes.make
  ) {
    self.group = group
    self.random = random
  }

  package func seal(_ photo: PhotoFile) throws(DeliveryError) -> SealedPhoto {
    let (salt, nonce) = (try random(32), try random(12))
    var key = Derivation.hkdf(group.bytes, salt: salt, info: Self.info)
    defer { key.wipe() }
    return SealedPhoto(
      bytes: try AES256.gcm.encrypt(photo.bytes, key: key, vector: nonce), contentType: "application/octet-stream",
      opening: .groupImage(salt: salt, nonce: nonce), of: photo)
  }
}
