/// All that a receiver needs to fetch and open one photo, as the `local` network writes it.
///
/// Source of the names: the parameters of XMTP's `remoteStaticAttachment:1.0`. The members of a seal that was not
/// applied are absent.
package struct Attachment: Hashable, Sendable, Codable {
  package let url: String
  /// SHA-256 of the stored object, 64 lower-case hexadecimal characters.
  package let contentDigest: String
  /// 32 bytes in lower-case hexadecimal.
  package let secret: String?
  /// 32 bytes in lower-case hexadecimal.
  package let salt: String?
  /// 12 bytes in lower-case hexadecimal.
  package let nonce: String?
  package let scheme: String
  /// Bytes of the stored object.
  package let contentLength: Int
  package let filename: String
  package let mimeType: String
  /// Pixels of the upright photo.
  package let width: Int
  /// Pixels of the upright photo.
  package let height: Int
  /// What opens the object as Matrix has it, where the `matrix` seal was applied.
  package let file: EncryptedFile?
  /// A few colours to show until the photo is there, as blurha.sh has them.
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

/// Attachments carry keys, so they describe themselves without them: not in a log, not in a debugger's dump.
extension Attachment: CustomStringConvertible, CustomReflectable {
  package var description: String { "attachment \(contentDigest), \(width)x\(height)" }
  package var customMirror: Mirror { Mirror(self, children: ["contentDigest": contentDigest]) }
}
