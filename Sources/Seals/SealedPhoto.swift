import Digests
import Messages

/// A photo as its store keeps it, and what opens it.
package struct SealedPhoto: Sendable {
  /// The object, byte for byte.
  package let bytes: [UInt8]
  /// What the store is told the object is. It says nothing of the photo, unless there is no seal.
  package let contentType: String
  /// What is needed once the bytes are stored.
  package let facts: SealedFacts

  /// SHA-256 of the object, which names it.
  package var digest: SHA256Digest { facts.digest }

  init(bytes: [UInt8], contentType: String, opening: Opening, of photo: PhotoFile) {
    self.bytes = bytes
    self.contentType = contentType
    facts = SealedFacts(
      digest: SHA256Digest(of: bytes), length: bytes.count, opening: opening, filename: photo.filename,
      mimeType: photo.mimeType, width: photo.width, height: photo.height, blurhash: photo.blurhash)
  }
}

/// What outlives the bytes of a sealed photo, in memory only: it opens the object.
package struct SealedFacts: Sendable {
  package let digest: SHA256Digest
  /// Bytes of the object.
  package let length: Int
  let opening: Opening
  let filename: String
  let mimeType: String
  let width: Int
  let height: Int
  let blurhash: String?

  /// What the message tells the receivers, once the object can be fetched at `url`.
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

/// The key material of one sealed photo. It describes itself to nobody: not to a log, not to a debugger's dump.
enum Opening: Sendable, CustomStringConvertible, CustomReflectable {
  case none
  case xmtp(secret: [UInt8], salt: [UInt8], nonce: [UInt8])
  /// The secret is the group's.
  case groupImage(salt: [UInt8], nonce: [UInt8])
  case matrix(key: [UInt8], counter: [UInt8])

  var description: String { "(key material)" }
  var customMirror: Mirror { Mirror(self, children: []) }
}
