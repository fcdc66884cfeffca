import Digests
import Messages

package struct SealedPhoto: Sendable {
  /// The object.
  package let bytes: [UInt8]
  /// The object's type for the store, which reveals nothing about a sealed photo.
  package let contentType: String
  /// The part that is needed after the upload.
  package let facts: SealedFacts

  /// SHA-256 of the object, which is its name.
  package var digest: SHA256Digest { facts.digest }

  init(bytes: [UInt8], contentType: String, opening: Opening, of photo: PhotoFile) {
    self.bytes = bytes
    self.contentType = contentType
    facts = SealedFacts(
      digest: SHA256Digest(of: bytes), length: bytes.count, opening: opening, filename: photo.filename,
      mimeType: photo.mimeType, width: photo.width, height: photo.height, blurhash: photo.blurhash)
  }
}

/// The keys and sizes of a sealed photo without its bytes, in memory only.
package struct SealedFacts: Sendable {
  package let digest: SHA256Digest
  /// The size of the object in bytes.
  package let length: Int
  let opening: Opening
  let filename: String
  let mimeType: String
  let width: Int
  let height: Int
  let blurhash: String?

  /// The attachment for receivers, with the object at `url`.
  package func attachment(at url: String) -> Attachment {
    var keys: (secret: [UInt8]?, salt: [UInt8], nonce: [UInt8])?
    var file: EncryptedFile?
    switch opening {
    case .none: break
    case .xmtp(let secret, let salt, let nonce): keys = (secret, salt, nonce)
    case .groupImage(let salt, let nonce): keys = (nil, salt, nonce)
    case .matrix(let key, let counter):
      file = EncryptedFile(
        url: url, key: EncryptedFile.Key(k: key.unpaddedBase64URL), iv: counter.unpaddedBase64,
        sha256: digest.bytes.unpaddedBase64)
    }
    return Attachment(
      url: url, contentDigest: digest.hex, secret: keys?.secret?.hex, salt: keys?.salt.hex, nonce: keys?.nonce.hex,
      scheme: "https://", contentLength: length, filename: filename, mimeType: mimeType, width: width, height: height,
      file: file, blurhash: blurhash)
  }
}

/// The keys of a sealed photo. Logs and debugger dumps do not show them.
enum Opening: Sendable, CustomStringConvertible, CustomReflectable {
  case none
  case xmtp(secret: [UInt8], salt: [UInt8], nonce: [UInt8])
  /// The secret is the group's.
  case groupImage(salt: [UInt8], nonce: [UInt8])
  case matrix(key: [UInt8], counter: [UInt8])

  var description: String { "(key material)" }
  var customMirror: Mirror { Mirror(self, children: []) }
}
