import Digests
import FoundationEssentials
import Messages
import Photos

@testable import Seals

extension FuzzTarget {
  static let seals: [FuzzTarget] = [envelope, xmtpContent, sealedXMTP, sealedMatrix, inflation, photoFormat]

  private static let envelopeWords = [
    "xmtp.org", "attachment", "remoteStaticAttachment", "multiRemoteStaticAttachment", "contentDigest", "secret",
    "salt", "nonce", "filename", "mimeType", "contentLength", "https://example.org/o", "\u{0A}", "\u{12}", "\u{22}",
  ]

  static let envelope = FuzzTarget("envelope", words: envelopeWords) { input throws(BrokenProperty) in
    guard let content = try? EncodedContent(decoding: input) else { return }
    try hold(content.content.count <= Inflation.limit, "it has become larger than it may")
    let again = try? EncodedContent(decoding: content.encoded())
    try hold(again == content, "what was written is not what is read")
  }

  static let xmtpContent = FuzzTarget("xmtp-content", words: envelopeWords) { input throws(BrokenProperty) in
    guard let photos = try? RemoteAttachmentContent.photos(decoding: input) else { return }
    try hold(!photos.isEmpty, "it announces nothing")
  }

  /// The input is first the contents of a valid seal, then the sealed object itself.
  static let sealedXMTP = FuzzTarget("sealed-xmtp", words: envelopeWords) { input throws(BrokenProperty) in
    let (secret, salt, nonce) = ([UInt8](repeating: 1, count: 32), [UInt8](repeating: 2, count: 32), [UInt8](0..<12))
    func open(_ object: [UInt8]) -> (bytes: [UInt8], filename: String?, mimeType: String)? {
      try? XMTPSeal.open(object, digest: SHA256Digest(of: object), secret: secret, salt: salt, nonce: nonce)
    }
    try hold(open(input) == nil, "something was opened that nobody sealed")
    let key = Derivation.hkdf(secret, salt: salt)
    guard let object = try? AES256.gcm.encrypt(input, key: key, vector: nonce) else {
      throw BrokenProperty(description: "it cannot be sealed")
    }
    let content = try? EncodedContent(decoding: input)
    try hold(
      content?.isAttachment == true || open(object) == nil, "an attachment was opened that is none")
    let plain = try? AES256.gcm.decrypt(object, key: key, vector: nonce)
    try hold(plain == input, "what was sealed is not what was opened")
    var damaged = object
    damaged[damaged.count / 2] ^= 1
    try hold((try? AES256.gcm.decrypt(damaged, key: key, vector: nonce)) == nil, "damage was not seen")
  }

  static let sealedMatrix = FuzzTarget(
    "sealed-matrix", words: ["url", "v", "v2", "key", "k", "kty", "alg", "A256CTR", "iv", "hashes", "sha256", "="]
  ) { input throws(BrokenProperty) in
    guard let file = try? JSONDecoder().decode(EncryptedFile.self, from: Data(input)) else { return }
    let object = Array("object".utf8)
    guard let opened = try? MatrixSeal.open(object, file) else { return }
    try hold(opened.count == object.count, "it has another length")
    try hold(
      file.hashes["sha256"].flatMap { [UInt8](base64: $0) } == SHA256Digest(of: object).bytes, "the hash was not seen")
  }

  static let inflation = FuzzTarget("inflation") { input throws(BrokenProperty) in
    let limit = 1 << 17
    guard let plain = try? Inflation.inflated(input, limit: limit) else { return }
    try hold(plain.count <= limit, "it has become larger than it may")
  }

  static let photoFormat = FuzzTarget(
    "photo-format", words: ["ftyp", "heic", "avif", "mif1", "GIF89a", "RIFF", "WEBP", "JXL ", "jP  ", "<svg", "%PDF"]
  ) { input throws(BrokenProperty) in
    try hold(
      PhotoFormat(of: input) == PhotoFormat(of: Array(input.prefix(8 + 4 * 64))), "the end decides what it begins with")
  }
}
