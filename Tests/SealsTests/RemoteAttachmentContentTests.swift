import Digests
import Messages
import Testing

@testable import Seals

/// Variants of other programs, and invalid announcements.
@Suite struct RemoteAttachmentContentTests {
  private static let digest = String(repeating: "ab", count: 32)
  private static let key = String(repeating: "0f", count: 32)
  private static let nonce = String(repeating: "0e", count: 12)

  private func content(_ change: (inout EncodedContent) -> Void = { _ in }) -> EncodedContent {
    var content = EncodedContent(
      authority: "xmtp.org", type: "remoteStaticAttachment", majorVersion: 1,
      parameters: [
        "contentDigest": Self.digest, "secret": Self.key, "salt": Self.key, "nonce": Self.nonce, "scheme": "https://",
        "contentLength": "1000", "filename": "a.jpg",
      ], content: Array("https://example.org/x".utf8))
    change(&content)
    return content
  }

  private func read(_ bytes: [UInt8]) throws -> RemotePhoto {
    try #require(try RemoteAttachmentContent.photos(decoding: bytes).first)
  }

  private func read(_ change: (inout EncodedContent) -> Void = { _ in }) throws -> RemotePhoto {
    try read(content(change).encoded())
  }

  @Test func anAnnouncementIsRead() throws {
    let photo = try read()
    #expect(photo.url == "https://example.org/x" && photo.contentDigest == Self.digest && photo.secret == Self.key)
    #expect(photo.salt == Self.key && photo.nonce == Self.nonce && photo.contentLength == 1000)
    #expect(photo.filename == "a.jpg")
  }

  @Test(arguments: ["https", "https:", "https://", "http", "ipfs://", "", nil])
  func theSchemeIsNotLookedAt(_ scheme: String?) throws {
    #expect(try read { $0.parameters["scheme"] = scheme }.url == "https://example.org/x")
  }

  @Test(arguments: ["-1", "0", "", "12 bytes", "1e3", "99999999999999999999", nil])
  func aLengthThatIsNoneIsNotKnown(_ length: String?) throws {
    #expect(try read { $0.parameters["contentLength"] = length }.contentLength == nil)
  }

  @Test func aLengthBeyond32BitsIsTaken() throws {
    #expect(try read { $0.parameters["contentLength"] = "4294967296" }.contentLength == 4_294_967_296)
  }

  @Test func hexadecimalIsReadWithItsPrefix() throws {
    let photo = try read { content in
      content.parameters = Dictionary(
        uniqueKeysWithValues: content.parameters.map { name, value in
          (name, ["contentDigest", "secret", "salt", "nonce"].contains(name) ? "0x\(value)" : value)
        })
    }
    #expect(photo == (try read()))
  }

  @Test func aNameNeedNotBeThere() throws {
    #expect(try read { $0.parameters["filename"] = nil }.filename == nil)
  }

  @Test func aFallbackSaysNothing() throws {
    #expect(try read { $0.fallback = "Can't display a.jpg." } == read())
  }

  @Test func anotherMinorVersionIsReadAndAnotherMajorOneIsNot() throws {
    // Field 4 of the type, after the other three.
    var type = ProtobufWriter()
    type.write(1, "xmtp.org")
    type.write(2, "remoteStaticAttachment")
    type.write(3, 1)
    type.write(4, 7)
    var writer = ProtobufWriter()
    writer.write(1, type.bytes)
    #expect(try read(content().encoded() + writer.bytes) == read())
    #expect(throws: SealError.notAnAttachment) { try read { $0.majorVersion = 2 } }
  }

  @Test func severalAttachmentsAreReadDespiteMissingMembers() throws {
    func entry(_ url: String, length: UInt64?, name: String?) -> [UInt8] {
      var entry = ProtobufWriter()
      entry.write(1, Self.digest)
      entry.write(2, [UInt8](repeating: 0x0f, count: 32))
      entry.write(3, [UInt8](repeating: 0x0e, count: 12))
      entry.write(4, [UInt8](repeating: 0x0f, count: 32))
      entry.write(5, "https:")
      entry.write(6, url)
      if let length { entry.write(7, length) }
      if let name { entry.write(8, name) }
      return entry.bytes
    }
    var several = ProtobufWriter()
    several.write(1, entry("https://example.org/a", length: 1000, name: "a.jpg"))
    several.write(1, entry("https://example.org/b", length: 0, name: nil))
    several.write(1, entry("https://example.org/c", length: nil, name: nil))
    let bytes = content {
      $0.type = "multiRemoteStaticAttachment"
      $0.parameters = [:]
      $0.content = several.bytes
    }.encoded()
    let photos = try RemoteAttachmentContent.photos(decoding: bytes)
    #expect(photos.map(\.url) == ["https://example.org/a", "https://example.org/b", "https://example.org/c"])
    #expect(photos.map(\.contentLength) == [1000, nil, nil] && photos.map(\.filename) == ["a.jpg", nil, nil])
    #expect(photos.allSatisfy { $0.secret == Self.key && $0.nonce == Self.nonce })
  }

  @Test(arguments: ["text", "attachment", "remoteAttachment", ""])
  func anotherTypeIsNone(_ type: String) {
    #expect(throws: SealError.notAnAttachment) { try read { $0.type = type } }
  }

  @Test func anotherAuthorityIsNone() {
    #expect(throws: SealError.notAnAttachment) { try read { $0.authority = "example.org" } }
  }
}
