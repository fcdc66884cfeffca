import Digests
import Messages
import Synchronization
import Testing

@testable import Seals

/// The known vector has the group key 00…1f, the salt 20…3f, the nonce 40…4b and the photo ffd8ffd9.
@Suite struct GroupImageSealTests {
  private let photo = PhotoFile(
    bytes: [0xff, 0xd8, 0xff, 0xd9], filename: "photo.jpg", mimeType: "image/jpeg", width: 1, height: 2)
  private let object = "9f754710bcf1440a0f8790965deb92fa48eb01d6"

  private func groupKey() throws -> GroupImageKey { try #require(GroupImageKey(Array(0...31))) }

  private func vectorSeal() throws -> GroupImageSeal {
    let next = Mutex<UInt8>(0x20)
    return GroupImageSeal(try groupKey()) { count throws(DeliveryError) in
      let start = next.withLock { next in
        defer { next += UInt8(count) }
        return next
      }
      return (0..<count).map { start + UInt8($0) }
    }
  }

  @Test("The known vector comes out byte for byte")
  func vector() throws {
    let sealed = try vectorSeal().seal(photo)
    #expect(sealed.bytes.hex == object)
    #expect(sealed.contentType == "application/octet-stream")
    let attachment = sealed.facts.attachment(at: "https://photos.example/o")
    #expect(attachment.secret == nil && attachment.file == nil && attachment.contentLength == 20)
    #expect(attachment.salt == Array<UInt8>(0x20...0x3f).hex && attachment.nonce == Array<UInt8>(0x40...0x4b).hex)
    #expect(attachment.contentDigest == SHA256Digest(of: sealed.bytes).hex)
  }

  @Test("The two info strings give two keys: a profile photo's is ConvosImageV1, an attachment's is empty")
  func infoStrings() {
    let (secret, salt) = (Array<UInt8>(0...31), Array<UInt8>(0x20...0x3f))
    #expect(
      Derivation.hkdf(secret, salt: salt, info: "ConvosImageV1").hex
        == "93a8ae8574c30e6870f0f1ade73e65dd71af3c40df995feea5ef6829c16c44c5")
    #expect(
      Derivation.hkdf(secret, salt: salt).hex
        == "9d7454efd23c4734540dbc9ab88dac56d22ef56757ac77b92cbb857ec32d1f8e")
  }

  @Test("Each seal has a salt and a nonce of its own, and opens under the group's key alone")
  func fresh() throws {
    let seal = GroupImageSeal(try groupKey())
    let (first, second) = (try seal.seal(photo), try seal.seal(photo))
    let (one, other) = (first.facts.attachment(at: ""), second.facts.attachment(at: ""))
    #expect(one.salt != other.salt && one.nonce != other.nonce && first.digest != second.digest)
    guard case .groupImage(let salt, let nonce) = first.facts.opening else { throw SealError.badKeyMaterial }
    let key = Derivation.hkdf(Array(0...31), salt: salt, info: GroupImageSeal.info)
    #expect(try AES256.gcm.decrypt(first.bytes, key: key, vector: nonce) == photo.bytes)
    let wrong = Derivation.hkdf(Array(1...32), salt: salt, info: GroupImageSeal.info)
    #expect(throws: SealError.decryptionFailed) { try AES256.gcm.decrypt(first.bytes, key: wrong, vector: nonce) }
    #expect("\(try groupKey()) \(first.facts.opening)" == "(key material) (key material)")
  }

  /// A tag, four members' profiles, a time and the key: plain, deflated without a frame, and in zlib's.
  private static let appData = [
    "CgphYmNkZWZnaGlqEigKIAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAEgRBbm5hEigKIAEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBEgRBbm5hEigKIAICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICEgRBbm5hEigKIAMDAwMDAwMDAwMDAwMDAwMDAwMDAwMDAwMDAwMDAwMDEgRBbm5hGYDY23AAAAAAIiAAAQIDBAUGBwgJCgsMDQ4PEBESExQVFhcYGRobHB0eHw",
    "HwAAAN_j4kpMSk5JTUvPyMwS0uBSYCAAhFgc8_ISQSoZCQCESiYCAKGSmQCAqJRsuHG7AOQYJQUGRiZmFlY2dg5OLm4eXj5-AUEhYRFRMXEJSSlpGVk5eQA",
    "HwAAAN942uPiSkxKTklNS8_IzBLS4FJgIACEWBzz8hJBKhkJAIRKJgIAoZKZAIColGy4cbsA5BglBQZGJmYWVjZ2Dk4ubh5ePn4BQSFhEVExcQlJKWkZWTl5ANH-EZo",
  ]

  @Test("The group's image key is found in its app data, packed or not", arguments: appData)
  func find(_ text: String) throws {
    #expect(try GroupImageKey.find(inAppData: text)?.bytes == Array(0...31))
  }

  @Test("App data without a key has none, and what is no such app data is refused")
  func noKey() throws {
    func find(_ bytes: [UInt8]) throws -> GroupImageKey? {
      try GroupImageKey.find(inAppData: bytes.unpaddedBase64URL)
    }
    #expect(try find([]) == nil)
    #expect(try find([0x0a, 3] + "tag".utf8) == nil)
    #expect(try find([0x22, 0]) == nil)
    #expect(throws: SealError.badKeyMaterial) { try find([0x22, 31] + [UInt8](repeating: 7, count: 31)) }
    #expect(throws: SealError.notAnAttachment) { try GroupImageKey.find(inAppData: "{\"theme\": \"dark\"}") }
    #expect(throws: SealError.notAnAttachment) { try find([0x22, 32, 1, 2, 3]) }
    #expect(throws: SealError.compressed) { try find([0x1f, 0, 0, 0, 9]) }
    #expect(throws: SealError.compressed) { try find([0x1f, 0, 0, 0, 9, 0xff, 0xff]) }
  }

  @Test("A profile update names URL, salt and nonce, as its protobuf has them")
  func update() throws {
    let photo = try vectorSeal().seal(photo).facts.attachment(at: "https://a.example/o")
    let type = "0a1e0a0a636f6e766f732e6f7267120e70726f66696c655f7570646174651801"
    let (salt, nonce) = (Array<UInt8>(0x20...0x3f).hex, Array<UInt8>(0x40...0x4b).hex)
    // content { encrypted_image { url, salt, nonce } }
    let image = "0a13" + Array("https://a.example/o".utf8).hex + "1220" + salt + "1a0c" + nonce
    #expect(try ProfileUpdateContent.setting(photo).hex == type + "2247" + "1245" + image)
    #expect(ProfileUpdateContent.clearing.hex == type + "2200")
  }

  @Test("A photo under another seal is in no profile update")
  func otherSeal() throws {
    for sealed in [try XMTPSeal().seal(photo), try MatrixSeal().seal(photo), try NoSeal().seal(photo)] {
      #expect(throws: SealError.badKeyMaterial) {
        try ProfileUpdateContent.setting(sealed.facts.attachment(at: "https://a.example/o"))
      }
    }
  }
}
