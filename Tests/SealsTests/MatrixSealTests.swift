import Digests
import Foundation
import Messages
import TestSupport
import Testing

@testable import Seals

@Suite struct MatrixSealTests {
  private let photo = PhotoFile(
    bytes: [0xff, 0xd8, 0xff, 0xd9], filename: "photo.jpg", mimeType: "image/jpeg", width: 1, height: 2,
    blurhash: "LEHV6nWB2yk8")

  /// Vectors of the specification's tests and of an independent library.
  struct Vector: CustomStringConvertible {
    let key: [UInt8]
    /// The first half of the counter block.
    let counter: [UInt8]
    let plain: String
    let sealed: String
    let sha256: String
    var description: String { "\(plain.prefix(12))" }
  }

  static let vectors = [
    Vector(
      key: Array(repeating: 0, count: 32), counter: Array(repeating: 0, count: 8), plain: "", sealed: "",
      sha256: "47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU"),
    Vector(
      key: Array(repeating: 0xff, count: 32), counter: Array(repeating: 0xff, count: 8), plain: "Hello, World",
      sealed: "5xJZTt5cQicm+9f4", sha256: "YzF08lARDdOCzJpzuSwsjTNlQc4pHxpdHcXiD/wpK6k"),
    Vector(
      key: Array(repeating: 0xff, count: 32), counter: Array(repeating: 0xff, count: 8),
      plain: String(repeating: "alphanumerically", count: 4),
      sealed: "zhtFStAeFx0s+9L/sSQO+WQMtldqYEHqTxMduJrCIpnkyer09kxJJuA4K+adQE4w+7jZe/vR9kIcqj9rOhDR8Q",
      sha256: "IOq7/dHHB+mfHfxlRY5XMeCWEwTPmlf4cJcgrkf6fVU"),
    Vector(
      key: Array(0...31), counter: Array(0xa0...0xa7), plain: "photospool matrix attachment test vector",
      sealed: "rhQUMfKHNhDhtAbDps1/KVHrH84ygJu579cf95jdp2+KeZjNMkYdVw",
      sha256: "NSxV+B5Zs3wHKgz/XQol+jRZ3jIsz8y2PcJpz3QBt+I"),
  ]

  @Test(arguments: vectors) func theKnownVectorsComeOutByteForByte(_ vector: Vector) throws {
    let seal = MatrixSeal { count throws(DeliveryError) in count == 32 ? vector.key : vector.counter }
    let sealed = try seal.seal(
      PhotoFile(
        bytes: Array(vector.plain.utf8), filename: "photo.jpg", mimeType: "image/jpeg", width: 1, height: 2))
    #expect(sealed.bytes.unpaddedBase64 == vector.sealed)
    let file = try #require(sealed.facts.attachment(at: "mxc://example.test/a").file)
    #expect(file.hashes == ["sha256": vector.sha256])
    #expect(try MatrixSeal.open(sealed.bytes, file) == Array(vector.plain.utf8))
  }

  @Test func keyAndCounterUseMatrixsAlphabets() throws {
    let seal = MatrixSeal { count throws(DeliveryError) in Array(repeating: 0xff, count: count) }
    let file = try #require(try seal.seal(photo).facts.attachment(at: "mxc://example.test/a").file)
    #expect(file.key.k == "__________________________________________8")
    #expect(file.iv == "//////////8AAAAAAAAAAA")
  }

  @Test func announcementHasExactlyMatrixsMembers() throws {
    let attachment = try MatrixSeal().seal(photo).facts.attachment(at: "mxc://example.test/a")
    let file = try #require(attachment.file)
    let object = try #require(try JSONSerialization.jsonObject(with: JSONEncoder().encode(file)) as? [String: Any])
    #expect(Set(object.keys) == ["url", "v", "key", "iv", "hashes"])
    let key = try #require(object["key"] as? [String: Any])
    #expect(Set(key.keys) == ["kty", "alg", "ext", "key_ops", "k"])
    #expect(try JSONDecoder().decode(EncryptedFile.self, from: JSONEncoder().encode(file)) == file)
    #expect(attachment.secret == nil && attachment.salt == nil && attachment.nonce == nil)
    #expect(attachment.contentLength == 4 && attachment.blurhash == "LEHV6nWB2yk8")
  }

  @Test func otherSealsAnnounceNoMatrixMembers() throws {
    let plain = PhotoFile(bytes: [1], filename: "photo.jpg", mimeType: "image/jpeg", width: 1, height: 2)
    for seal in [XMTPSeal(), NoSeal()] as [any Seal] {
      let attachment = try JSONEncoder().encode(seal.seal(plain).facts.attachment(at: "https://example.test/a"))
      let object = try #require(try JSONSerialization.jsonObject(with: attachment) as? [String: Any])
      #expect(object["file"] == nil && object["blurhash"] == nil)
    }
  }

  @Test func twoSealsOfOnePhotoShareNothing() throws {
    let (first, second) = (try MatrixSeal().seal(photo), try MatrixSeal().seal(photo))
    let (one, other) = (first.facts.attachment(at: "").file, second.facts.attachment(at: "").file)
    #expect(first.digest != second.digest && one?.key != other?.key && one?.iv != other?.iv)
  }

  @Test func everyFlippedByteIsRefused() throws {
    let sealed = try MatrixSeal().seal(photo)
    let file = try #require(sealed.facts.attachment(at: "").file)
    for index in sealed.bytes.indices {
      var bytes = sealed.bytes
      bytes[index] ^= 1
      #expect(throws: SealError.digestMismatch) { try MatrixSeal.open(bytes, file) }
    }
    #expect(throws: SealError.digestMismatch) { try MatrixSeal.open([], file) }
  }

  @Test func variantsOfOtherSendersAreRead() throws {
    let sealed = try MatrixSeal().seal(photo)
    let file = try #require(sealed.facts.attachment(at: "").file)
    let standardKey = file.key.k.replacing("-", with: "+").replacing("_", with: "/") + "="
    let padded = EncryptedFile(
      url: "", key: EncryptedFile.Key(k: standardKey), iv: file.iv + "==", sha256: sealed.digest.bytes.base64)
    #expect(try MatrixSeal.open(sealed.bytes, padded) == photo.bytes)
    let counter = Array(repeating: UInt8(7), count: 16)
    let key = Array(repeating: UInt8(9), count: 32)
    let object = try AES256.ctr.encrypt(photo.bytes, key: key, vector: counter)
    let other = EncryptedFile(
      url: "", key: EncryptedFile.Key(k: key.unpaddedBase64URL), iv: counter.unpaddedBase64,
      sha256: SHA256Digest(of: object).bytes.unpaddedBase64)
    #expect(try MatrixSeal.open(object, other) == photo.bytes)
  }

  @Test(arguments: [
    ("", "AAAAAAAAAAAAAAAAAAAAAA"), ("AAAA", "AAAAAAAAAAAAAAAAAAAAAA"), ("\u{e9}", "AAAAAAAAAAAAAAAAAAAAAA"),
    ("AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA", "AAAA"), ("AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA", "="),
    ("AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA A", "AAAAAAAAAAAAAAAAAAAAAA"),
  ])
  func keysThatAreNoneAreRefused(_ k: String, _ iv: String) {
    let file = EncryptedFile(url: "", key: EncryptedFile.Key(k: k), iv: iv, sha256: "")
    #expect(throws: SealError.badKeyMaterial) { try MatrixSeal.open([1], file) }
  }

  @Test func keyMaterialDescribesItselfToNobody() throws {
    let seal = MatrixSeal { count throws(DeliveryError) in Array(repeating: 0xff, count: count) }
    let sealed = try seal.seal(photo)
    let attachment = sealed.facts.attachment(at: "mxc://example.test/a")
    let file = try #require(attachment.file)
    var text = "\(sealed) \(attachment) \(file) \(String(reflecting: file)) \(file.key) \(sealed.facts.opening)"
    for value in [sealed, attachment, file, file.key, sealed.facts.opening] as [Any] { dump(value, to: &text) }
    #expect(!text.contains("____") && !text.contains("255") && !text.contains("////"))
  }

  @Test func anIndependentImplementationOpensIt() throws {
    let scratch = try TemporaryDirectory()
    let photo = PhotoFile(
      bytes: (0..<50_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }, filename: "photo.jpg", mimeType: "image/jpeg",
      width: 1, height: 1)
    let sealed = try MatrixSeal().seal(photo)
    try Data(sealed.bytes).write(to: URL(fileURLWithPath: scratch.path("object")))
    let file = try JSONEncoder().encode(sealed.facts.attachment(at: "mxc://example.test/a").file)
    let result = try run(
      [python, pythonScript("open_encrypted_file.py"), scratch.path("object")],
      input: String(decoding: file, as: UTF8.self))
    #expect(result.status == 0, "\(result.errors)")
    #expect(result.output == SHA256Digest(of: photo.bytes).hex + "\n")
  }
}
