/// Everything a receiver needs to fetch and open a photo, in the form of the `local` network. The names are the
/// parameters of XMTP's `remoteStaticAttachment:1.0`. Members of other seals are absent.
package struct Attachment: Hashable, Sendable, Codable {
  package let url: String
  /// SHA-256 of the stored object, 64 lower-case hexadecimal characters.
  package let contentDigest: String
  /// 32 bytes in hexadecimal, as the salt; the nonce has 12.
  package let secret: String?
  package let salt: String?
  package let nonce: String?
  package let scheme: String
  /// The size of the stored object in bytes.
  package let contentLength: Int
  package let filename: String
  package let mimeType: String
  /// Pixels, upright.
  package let width: Int
  package let height: Int
  /// Matrix' announcement of the object, with the `matrix` seal.
  package let file: EncryptedFile?
  /// A placeholder image (blurha.sh).
  package let blurhash: String?

  package init(
    url: String, contentDigest: String, secret: String?, salt: String?, nonce: String?,
    scheme: String, contentLength: Int, filename: String, mimeType: String, width: Int, height: Int,
    file: EncryptedFile? = nil, blurhash: String? = nil
  ) {
    self.url = url
    self.contentDigest = contentDigest
    self.secret = secret
    self.salt = salt
    self.nonce = nonce
    self.scheme = scheme
    self.contentLength = contentLength
    self.filename = filename
    self.mimeType = mimeType
    self.width = width
    self.height = height
    self.file = file
    self.blurhash = blurhash
  }
}

/// Descriptions leave out the keys, in logs and debugger dumps.
extension Attachment: CustomStringConvertible, CustomReflectable {
  package var description: String { "attachment \(contentDigest), \(width)x\(height)" }
  package var customMirror: Mirror { Mirror(self, children: ["contentDigest": contentDigest]) }
}
