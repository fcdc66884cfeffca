import Digests
import Messages

/// Matrix's encrypted attachment, version 2 of `EncryptedFile`: the photo under AES-256-CTR.
///
/// Source: the Matrix specification's section on encrypted attachments. The counter block is 8 random bytes and 8 zero
/// bytes; key and counter are used once. Instead of a tag, the receiver checks the object's SHA-256, which must come
/// from a trusted sender.
///
/// It is end-to-end only if the event with the key is. In a room without Megolm the homeserver sees the key.
package struct MatrixSeal: Seal {
  private let random: @Sendable (Int) throws(DeliveryError) -> [UInt8]

  private static let keyLength = 32
  private static let randomCounterLength = 8
  private static let counterLength = 16

  /// - Parameter random: returns that many random bytes; tests use known ones.
  package init(random: @escaping @Sendable (Int) throws(DeliveryError) -> [UInt8] = RandomBytes.make) {
    self.random = random
  }

  package func seal(_ photo: PhotoFile) throws(DeliveryError) -> SealedPhoto {
    let key = try random(Self.keyLength)
    let zeros = [UInt8](repeating: 0, count: Self.counterLength - Self.randomCounterLength)
    let counter = try random(Self.randomCounterLength) + zeros
    return SealedPhoto(
      bytes: try AES256.ctr.encrypt(photo.bytes, key: key, vector: counter), contentType: "application/octet-stream",
      opening: .matrix(key: key, counter: counter), of: photo)
  }

  /// Opens a sealed object, after checking lengths and hash. Some senders use either alphabet of base64, padded or not,
  /// or a counter that does not begin at zero; these are accepted. The hash covers neither key nor counter, so the
  /// result must be checked.
  package static func open(_ object: [UInt8], _ file: EncryptedFile) throws(SealError) -> [UInt8] {
    guard let key = [UInt8](base64: file.key.k), let counter = [UInt8](base64: file.iv), key.count == keyLength,
      counter.count == counterLength, file.v == "v2", file.key.alg == "A256CTR"
    else { throw .badKeyMaterial }
    guard let hash = file.hashes["sha256"].flatMap({ [UInt8](base64: $0) }), SHA256Digest(of: object).bytes == hash
    else { throw .digestMismatch }
    do { return try AES256.ctr.encrypt(object, key: key, vector: counter) } catch { throw .unavailable(error.sentence) }
  }
}
