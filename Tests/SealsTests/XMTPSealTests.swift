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

  /// Gives the known vector's bytes: secret 00…1f, salt 20…3f, nonce 40…4b.
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

  @Test func theInnerContentIsTheKnownEnvelope() {
    let inner = EncodedContent.attachment(photo.bytes, filename: "photo.jpg", mimeType: "image/jpeg").encoded()
    #expect(
      inner.hex
        == "0a180a08786d74702e6f7267120a6174746163686d656e74180112150a0866696c656e616d65120970686f746f2e6a706712160a086d696d6554797065120a696d6167652f6a7065672204ffd8ffd9"
    )
  }

  @Test func theKeyIsTheKnownOne() throws {
    let key = try KeyDerivation.hkdf(secret: Array(0...31), salt: Array(32...63))
    #expect(key.hex == "9d7454efd23c4734540dbc9ab88dac56d22ef56757ac77b92cbb857ec32d1f8e")
  }

  @Test func aSealedPhotoOpensAgain() throws {
    let sealed = try XMTPSeal().seal(photo)
    let opened = try open(sealed)
    #expect(opened.bytes == photo.bytes && opened.filename == "photo.jpg" && opened.mimeType == "image/jpeg")
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

  @Test func wrongKeysAreRefused() throws {
    let sealed = try XMTPSeal().seal(photo)
    #expect(throws: SealError.decryptionFailed) { try open(sealed, secret: [UInt8](repeating: 7, count: 32)) }
    #expect(throws: SealError.badKeyMaterial) { try open(sealed, secret: [1, 2, 3]) }
  }

  @Test func aCutObjectIsRefused() throws {
    let sealed = try XMTPSeal().seal(photo)
    for length in [0, 1, 15, 16, sealed.bytes.count - 1] {
      let cut = Array(sealed.bytes.prefix(length))
      #expect(throws: SealError.decryptionFailed) { try open(sealed, bytes: cut, digest: SHA256Digest(of: cut)) }
    }
  }

  @Test func hostileEnvelopesAreRefusedAndNeverTrap() {
    var random = SystemRandomNumberGenerator()
    let good = EncodedContent.attachment([1, 2, 3], filename: "f", mimeType: "m").encoded()
    for _ in 0..<20_000 {
      var bytes = good
      for _ in 0..<Int.random(in: 1...4, using: &random) {
        bytes[Int.random(in: bytes.indices, using: &random)] = UInt8.random(in: 0...255, using: &random)
      }
      _ = try? EncodedContent(decoding: Array(bytes.prefix(Int.random(in: 0...bytes.count, using: &random))))
    }
    #expect(throws: SealError.notAnAttachment) { try EncodedContent(decoding: [0x0a, 0xff]) }
    #expect(throws: SealError.notAnAttachment) { try EncodedContent(decoding: [UInt8](repeating: 0xff, count: 12)) }
  }

  @Test func keyMaterialDescribesItselfToNobody() throws {
    let sealed = try vectorSeal().seal(photo)
    var text = "\(sealed) \(sealed.facts)"
    dump(sealed.facts, to: &text)
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
    #expect(try Data(contentsOf: URL(fileURLWithPath: scratch.path("m.jpg"))) == Data(photo.bytes))
  }

  private func open(
    _ sealed: SealedPhoto, bytes: [UInt8]? = nil, digest: SHA256Digest? = nil, secret: [UInt8]? = nil
  ) throws -> (bytes: [UInt8], filename: String?, mimeType: String) {
    guard case .xmtp(let own, let salt, let nonce) = sealed.facts.opening else { throw SealError.badKeyMaterial }
    return try XMTPSeal.open(
      bytes ?? sealed.bytes, digest: digest ?? sealed.digest, secret: secret ?? own, salt: salt, nonce: nonce)
  }
}

@Suite struct NoSealTests {
  @Test func withoutASealTheObjectIsThePhotoAndHasNoKeys() throws {
    let photo = PhotoFile(bytes: [1, 2], filename: "photo.jpg", mimeType: "image/jpeg", width: 3, height: 4)
    let sealed = try NoSeal().seal(photo)
    let attachment = sealed.facts.attachment(at: "https://x")
    #expect(sealed.bytes == photo.bytes && sealed.contentType == "image/jpeg")
    #expect(attachment.secret == nil && attachment.salt == nil && attachment.nonce == nil && attachment.width == 3)
  }
}
