import Digests
import Foundation
import Messages
import Synchronization
import TestSupport
import Testing

@testable import Seals

@Suite struct XMTPSealTests {
  private let photo = PhotoFile(
    bytes: [0xff, 0xd8, 0xff, 0xd9], filename: "photo.jpg", mimeType: "image/jpeg", width: 1, height: 2)

  /// The known vector's bytes: secret 00…1f, salt 20…3f, nonce 40…4b.
  private func vectorSeal() -> XMTPSeal {
    let next = Mutex<UInt8>(0)
    return XMTPSeal { count throws(DeliveryError) in
      let start = next.withLock { next in
        defer { next += UInt8(count) }
        return next
      }
      return (0..<count).map { start + UInt8($0) }
    }
  }

  @Test func theKnownVectorComesOutByteForByte() throws {
    let sealed = try vectorSeal().seal(photo)
    #expect(
      sealed.bytes.hex
        == "8be8c4cbc215024da894cd02681101976233e7951d9fc245120e8c212385cf5ab1fb926f5a74da9e5c49fa91233b01e39a7903c6becc6525a6e53637cf9ca30aa1ad86cad634f6f8a2c727c94269e8abda5772419662ce2c87422f45edfaf0"
    )
    #expect(sealed.digest.hex == "02388651bb849b582a6e51e6c9450df3e10f79ce0874ae46fd96b4799bb7467f")
    let attachment = sealed.facts.attachment(at: "https://example.test/x")
    #expect(attachment.contentLength == 95 && attachment.scheme == "https://")
    #expect(attachment.nonce == "404142434445464748494a4b")
  }

  @Test func twoSealsOfOnePhotoShareNothing() throws {
    let (first, second) = (try XMTPSeal().seal(photo), try XMTPSeal().seal(photo))
    let (one, other) = (first.facts.attachment(at: ""), second.facts.attachment(at: ""))
    #expect(first.digest != second.digest)
    #expect(one.secret != other.secret && one.salt != other.salt && one.nonce != other.nonce)
  }

  @Test func everyFlippedByteIsRefused() throws {
    let sealed = try XMTPSeal().seal(photo)
    for index in sealed.bytes.indices {
      var bytes = sealed.bytes
      bytes[index] ^= 1
      #expect(throws: SealError.digestMismatch) { try open(sealed, bytes: bytes) }
      #expect(throws: SealError.decryptionFailed) { try open(sealed, bytes: bytes, digest: SHA256Digest(of: bytes)) }
    }
  }

  @Test func everyFlippedByteOfAKeyIsRefused() throws {
    let sealed = try XMTPSeal().seal(photo)
    guard case .xmtp(let secret, let salt, let nonce) = sealed.facts.opening else { throw SealError.badKeyMaterial }
    func flipped(_ bytes: [UInt8], at index: Int) -> [UInt8] {
      var bytes = bytes
      bytes[index] ^= 1
      return bytes
    }
    for index in 0..<32 {
      #expect(throws: SealError.decryptionFailed) { try open(sealed, secret: flipped(secret, at: index)) }
      #expect(throws: SealError.decryptionFailed) { try open(sealed, salt: flipped(salt, at: index)) }
    }
    for index in 0..<12 {
      #expect(throws: SealError.decryptionFailed) { try open(sealed, nonce: flipped(nonce, at: index)) }
    }
  }

  @Test(arguments: [0, 11, 13, 31, 33])
  func aKeyOfAnotherLengthIsRefused(_ length: Int) throws {
    let sealed = try XMTPSeal().seal(photo)
    let bytes = [UInt8](repeating: 7, count: length)
    #expect(throws: SealError.badKeyMaterial) { try open(sealed, secret: bytes) }
    #expect(throws: SealError.badKeyMaterial) { try open(sealed, salt: bytes) }
    #expect(throws: SealError.badKeyMaterial) { try open(sealed, nonce: bytes) }
  }

  @Test func aCutObjectIsRefused() throws {
    let sealed = try XMTPSeal().seal(photo)
    for length in [0, 1, 15, 16, sealed.bytes.count - 1] {
      let cut = Array(sealed.bytes.prefix(length))
      #expect(throws: SealError.decryptionFailed) { try open(sealed, bytes: cut, digest: SHA256Digest(of: cut)) }
    }
  }

  /// The inner content is libxmtp's own encoding, with a fallback; sealed by PyCryptodome.
  @Test func photosSealedByAnotherImplementationOpen() throws {
    let sealed = """
      468c56164536a28c74cc8f7415717fa405c5a1f6d0197dd1e65844498b97d2ca665d350cc454a1de2d7d5bb4ea8c9a79b7438d7c07af2934\
      112187042bf56000470c79603332dd770f86749a24af8cad64b0cd57e544f4ccff483765e94e8c43a6c3bb675a89f665e6d257e6b0eaa6eb\
      d9afdac5901461ac1e9e6274bf02a5e8afe4663a980e69034567f2424af7ad0bbe830e97d8763a
      """
    let object = try #require([UInt8](hex: sealed))
    let digest = try #require(
      SHA256Digest(hex: "fd98403ad95c3157f4a35f0defb41f67fe1eed63bbe4f2d4f0b63a0d636e29fc"))
    let opened = try XMTPSeal.open(
      object, digest: digest, secret: Array(0...31), salt: Array(32...63), nonce: Array(0...11))
    #expect(opened.bytes == photo.bytes && opened.filename == "a.jpg" && opened.mimeType == "image/jpeg")
  }

  /// libxmtp's fixture of a text, a whole envelope and not an attachment.
  @Test func aSealedTextIsNoAttachment() throws {
    let envelope = try #require(
      Data(base64Encoded: "ChIKCHhtdHAub3JnEgR0ZXh0GAESEQoIZW5jb2RpbmcSBVVURi04Ig1IZWxsbywgV29ybGQh"))
    let content = try EncodedContent(decoding: Array(envelope))
    #expect(content.type == "text" && content.content == Array("Hello, World!".utf8))
    #expect(content.parameters == ["encoding": "UTF-8"] && content.encoded() == Array(envelope))
    #expect(throws: SealError.notAnAttachment) { try opened(content) }
  }

  @Test func onlyTheFirstMajorVersionOfAttachmentsIsRead() throws {
    let good = EncodedContent.attachment([1], filename: "f", mimeType: "m")
    #expect(try opened(good).bytes == [1])
    for change: (inout EncodedContent) -> Void in [
      { $0.authority = "example.org" }, { $0.type = "remoteStaticAttachment" }, { $0.majorVersion = 2 },
      { $0.majorVersion = 0 }, { $0.parameters["mimeType"] = nil }, { $0.type = "" },
    ] {
      var content = good
      change(&content)
      #expect(throws: SealError.notAnAttachment) { try opened(content) }
    }
  }

  @Test func aPhotoWithoutAFileNameStillOpens() throws {
    var content = EncodedContent.attachment([1], filename: "f", mimeType: "m")
    content.parameters["filename"] = nil
    #expect(try opened(content).filename == nil)
  }

  @Test func randomnessThatFailsSealsNothing() {
    let seal = XMTPSeal { _ throws(DeliveryError) in throw DeliveryError(.configError, "no entropy") }
    #expect(throws: DeliveryError(.configError, "no entropy")) { try seal.seal(photo) }
  }

  @Test func keyMaterialDescribesItselfToNobody() throws {
    let sealed = try vectorSeal().seal(photo)
    var text = "\(sealed) \(sealed.facts) \(String(reflecting: sealed.facts)) \(sealed.facts.opening)"
    dump(sealed.facts, to: &text)
    dump(sealed.facts.opening, to: &text)
    #expect(!text.contains("000102") && !text.contains("0, 1, 2") && !text.contains("- 31"))
  }

  @Test func anIndependentImplementationOpensIt() throws {
    let scratch = try TemporaryDirectory()
    let photo = PhotoFile(
      bytes: (0..<50_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }, filename: "photo.jpg", mimeType: "image/jpeg",
      width: 1, height: 1)
    let sealed = try XMTPSeal().seal(photo)
    try Data(sealed.bytes).write(to: URL(fileURLWithPath: scratch.path("object")))
    let attachment = try JSONEncoder().encode(sealed.facts.attachment(at: "file://\(scratch.path("object"))"))
    let line = #"{"message":"m","kind":"photo","attachment":\#(String(decoding: attachment, as: UTF8.self))}"#
    let result = try run([python, pythonScript("open_attachment.py"), scratch.path], input: line + "\n")
    #expect(result.status == 0, "\(result.errors)")
    #expect(result.output.contains(SHA256Digest(of: photo.bytes).hex))
    #expect(try Data(contentsOf: URL(fileURLWithPath: scratch.path("m.jpg"))) == Data(photo.bytes))
  }

  private func open(
    _ sealed: SealedPhoto, bytes: [UInt8]? = nil, digest: SHA256Digest? = nil, secret: [UInt8]? = nil,
    salt: [UInt8]? = nil, nonce: [UInt8]? = nil
  ) throws -> (bytes: [UInt8], filename: String?, mimeType: String) {
    guard case .xmtp(let ownSecret, let ownSalt, let ownNonce) = sealed.facts.opening else {
      throw SealError.badKeyMaterial
    }
    return try XMTPSeal.open(
      bytes ?? sealed.bytes, digest: digest ?? sealed.digest, secret: secret ?? ownSecret, salt: salt ?? ownSalt,
      nonce: nonce ?? ownNonce)
  }

  private func opened(_ content: EncodedContent) throws -> (bytes: [UInt8], filename: String?, mimeType: String) {
    let (secret, salt, nonce) = ([UInt8](0...31), [UInt8](32...63), [UInt8](64...75))
    let key = Derivation.hkdf(secret, salt: salt)
    let object = try AES256.gcm.encrypt(content.encoded(), key: key, vector: nonce)
    return try XMTPSeal.open(object, digest: SHA256Digest(of: object), secret: secret, salt: salt, nonce: nonce)
  }
}

@Suite struct NoSealTests {
  @Test func unsealedPhotosOpenWithoutKeys() throws {
    let scratch = try TemporaryDirectory()
    let photo = PhotoFile(bytes: [1, 2], filename: "photo.jpg", mimeType: "image/jpeg", width: 3, height: 4)
    let sealed = try NoSeal().seal(photo)
    try Data(sealed.bytes).write(to: URL(fileURLWithPath: scratch.path("object")))
    let attachment = try JSONEncoder().encode(sealed.facts.attachment(at: "file://\(scratch.path("object"))"))
    let line = #"{"message":"m","kind":"photo","attachment":\#(String(decoding: attachment, as: UTF8.self))}"#
    let result = try run([python, pythonScript("open_attachment.py")], input: line + "\n")
    #expect(result.status == 0, "\(result.errors)")
    #expect(result.output.contains(SHA256Digest(of: photo.bytes).hex))
  }

  @Test func withoutASealTheObjectIsThePhotoAndHasNoKeys() throws {
    let photo = PhotoFile(bytes: [1, 2], filename: "photo.jpg", mimeType: "image/jpeg", width: 3, height: 4)
    let sealed = try NoSeal().seal(photo)
    let attachment = sealed.facts.attachment(at: "https://x")
    #expect(sealed.bytes == photo.bytes && sealed.contentType == "image/jpeg")
    #expect(attachment.secret == nil && attachment.salt == nil && attachment.nonce == nil && attachment.width == 3)
  }
}
