import Digests
import Messages

/// XMTP's remote attachment: the photo in its `attachment` envelope, under AES-256-GCM. Source:
/// `remoteStaticAttachment:1.0` in libxmtp's content type specification and `xmtp_content_types`. The key is
/// HKDF-SHA256 of a 32-byte secret with a 32-byte salt and no info. The nonce has 12 bytes, and the 16-byte tag follows
/// the ciphertext. There is no associated data.
package struct XMTPSeal: Seal {
  private let random: @Sendable (Int) throws(DeliveryError) -> [UInt8]

  /// - Parameter random: returns that many random bytes; tests use known ones.
  package init(random: @escaping @Sendable (Int) throws(DeliveryError) -> [UInt8] = RandomBytes.make) {
    self.random = random
  }

  package func seal(_ photo: PhotoFile) throws(DeliveryError) -> SealedPhoto {
    let (secret, salt, nonce) = (try random(32), try random(32), try random(12))
    let content = EncodedContent.attachment(photo.bytes, filename: photo.filename, mimeType: photo.mimeType)
    var key = Derivation.hkdf(secret, salt: salt)
    defer { key.wipe() }
    let object = try AES256.gcm.encrypt(content.encoded(), key: key, vector: nonce)
    return SealedPhoto(
      bytes: object, contentType: "application/octet-stream",
      opening: .xmtp(secret: secret, salt: salt, nonce: nonce), of: photo)
  }

  /// Opens a sealed object, after checking lengths, digest and tag in this order. Returns the photo's bytes, file name
  /// and type. The name is the sender's word, never a path.
  package static func open(
    _ object: [UInt8], digest: SHA256Digest, secret: [UInt8], salt: [UInt8], nonce: [UInt8]
  ) throws(SealError) -> (bytes: [UInt8], filename: String?, mimeType: String) {
    guard secret.count == 32, salt.count == 32, nonce.count == 12 else { throw .badKeyMaterial }
    guard SHA256Digest(of: object) == digest else { throw .digestMismatch }
    var key = Derivation.hkdf(secret, salt: salt)
    defer { key.wipe() }
    let content = try EncodedContent(decoding: AES256.gcm.decrypt(object, key: key, vector: nonce))
    guard content.isAttachment, let mimeType = content.parameters["mimeType"] else { throw .notAnAttachment }
    return (content.content, content.parameters["filename"], mimeType)
  }
}
