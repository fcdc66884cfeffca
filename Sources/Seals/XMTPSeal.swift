import Digests
import Messages

/// XMTP's remote attachment: the photo, in its `attachment` envelope, under AES-256-GCM.
///
/// Source: `remoteStaticAttachment:1.0` in libxmtp's content type specification and `xmtp_content_types`. The key is
/// HKDF-SHA256 of a 32-byte secret with a 32-byte salt and no info; the nonce has 12 bytes, the 16-byte tag follows the
/// ciphertext, there is no associated data.
public struct XMTPSeal: Seal {
  public let name = "xmtp"
  private let random: @Sendable (Int) throws(DeliveryError) -> [UInt8]

  public init() { self.init(random: RandomBytes.make) }

  /// - Parameter random: gives that many unpredictable bytes; known ones in tests of published vectors.
  init(random: @escaping @Sendable (Int) throws(DeliveryError) -> [UInt8]) { self.random = random }

  public func seal(_ photo: PhotoFile) throws(DeliveryError) -> SealedPhoto {
    let (secret, salt, nonce) = (try random(32), try random(32), try random(12))
    let content = EncodedContent.attachment(photo.bytes, filename: photo.filename, mimeType: photo.mimeType)
    let key = try KeyDerivation.hkdf(secret: secret, salt: salt)
    let object = try AESGCM.seal(content.encoded(), key: key, nonce: nonce)
    return SealedPhoto(
      bytes: object, contentType: "application/octet-stream",
      opening: .xmtp(secret: secret, salt: salt, nonce: nonce), of: photo)
  }

  /// Opens what a sender sealed: the digest is checked before anything is decrypted, the tag before anything is read.
  ///
  /// - Returns: the photo's bytes, file name and type.
  /// - Throws: `SealError` with what did not fit.
  public static func open(
    _ object: [UInt8], digest: SHA256Digest, secret: [UInt8], salt: [UInt8], nonce: [UInt8]
  ) throws -> (bytes: [UInt8], filename: String?, mimeType: String) {
    guard secret.count == 32, salt.count == 32, nonce.count == 12 else { throw SealError.badKeyMaterial }
    guard SHA256Digest(of: object) == digest else { throw SealError.digestMismatch }
    let key = try KeyDerivation.hkdf(secret: secret, salt: salt)
    let content = try EncodedContent(decoding: AESGCM.open(object, key: key, nonce: nonce))
    guard content.isAttachment, let mimeType = content.parameters["mimeType"] else { throw SealError.notAnAttachment }
    return (content.content, content.parameters["filename"], mimeType)
  }
}

/// Why a sealed photo cannot be opened.
public enum SealError: Error, Equatable, CustomStringConvertible {
  case badKeyMaterial
  case digestMismatch
  case decryptionFailed
  case notAnAttachment

  public var description: String {
    switch self {
    case .badKeyMaterial: "the secret, salt or nonce does not have its length"
    case .digestMismatch: "the object is not the one that was announced: its SHA-256 differs"
    case .decryptionFailed: "the object cannot be decrypted with the announced keys"
    case .notAnAttachment: "the decrypted content is not an attachment"
    }
  }
}
