import Foundation
import Messages
import Testing

@testable import Receiving

@Suite struct AttachmentReaderTests {
  private static let digest = String(repeating: "ab", count: 32)
  private static let key = String(repeating: "0f", count: 32)
  private static let nonce = String(repeating: "0e", count: 12)
  private static let file = """
    {"v":"v2","url":"mxc://a/b","key":{"kty":"oct","alg":"A256CTR","ext":true,"key_ops":["encrypt","decrypt"],\
    "k":"__________________________________________8"},"iv":"//////////8AAAAAAAAAAA",\
    "hashes":{"sha256":"47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU"}}
    """

  private func read(_ text: String) throws(DeliveryError) -> [RemotePhoto] {
    try AttachmentReader.read(Array(text.utf8)).photos
  }

  private func sealed(_ change: (inout [String: Any]) -> Void = { _ in }) throws -> String {
    var members: [String: Any] = [
      "url": "https://example.org/x", "contentDigest": Self.digest, "secret": Self.key, "salt": Self.key,
      "nonce": Self.nonce, "contentLength": 1000, "filename": "a.jpg",
    ]
    change(&members)
    return String(decoding: try JSONSerialization.data(withJSONObject: members), as: UTF8.self)
  }

  @Test func theJSONOfTheLocalNetworkIsRead() throws {
    let photo = try #require(try read(sealed()).first)
    #expect(photo.url == "https://example.org/x" && photo.secret == Self.key && photo.contentLength == 1000)
  }

  @Test(arguments: ["-1", "0", "\"12\"", "null", "1e400", "{}"])
  func aLengthThatIsNoneIsNotKnown(_ length: String) throws {
    let json = try sealed { $0["contentLength"] = nil }.dropLast() + ",\"contentLength\":\(length)}"
    // Some JSON parsers refuse a number beyond all limits.
    let photos = try? read(String(json))
    #expect(photos?.first?.contentLength == nil && (photos != nil || length == "1e400"))
  }

  @Test func hexadecimalIsReadInEitherCaseAndWithItsPrefix() throws {
    let written = try sealed { members in
      members["contentDigest"] = "0x" + Self.digest.uppercased()
      members["secret"] = "0X" + Self.key.uppercased()
      members["salt"] = "0x" + Self.key
      members["nonce"] = Self.nonce.uppercased()
    }
    let photo = try #require(try read(written).first)
    #expect(photo.secret == Self.key.uppercased() && photo.salt == Self.key && photo.hasDigest)
  }

  @Test(arguments: ["https", "https:", "https://", "http://", "ipfs", ""])
  func theSchemeIsNotLookedAt(_ scheme: String) throws {
    #expect(try read(sealed { $0["scheme"] = scheme }).first?.url == "https://example.org/x")
  }

  @Test(arguments: ["-1", "0", "\"7\"", "null", "{}"])
  func aSizeOfAMatrixPhotoThatIsNoneIsNotKnown(_ size: String) throws {
    let event = "{\"msgtype\":\"m.image\",\"body\":\"b\",\"url\":\"mxc://a/b\",\"info\":{\"size\":\(size)}}"
    let photo = try #require(try read(event).first)
    #expect(photo.contentLength == nil)
  }

  @Test func aMatrixEventAndItsContentAreRead() throws {
    let content = "{\"msgtype\":\"m.image\",\"body\":\"b.jpg\",\"file\":\(Self.file),\"info\":{\"size\":7}}"
    for text in [content, "\n {\"type\":\"m.room.message\",\"sender\":\"@a:b\",\"content\":\(content)}"] {
      let photo = try #require(try read(text).first)
      #expect(photo.url == "mxc://a/b" && photo.file != nil && photo.filename == "b.jpg" && photo.contentLength == 7)
    }
  }

  @Test(arguments: [
    (#""sender":"@bob:x""#, "@bob:x"), (#""type":"m.room.message""#, nil), (#""sender":7"#, nil),
    (#""sender":"""#, nil),
    (#""sender":"\u001b[2J""#, nil), (#""sender":"a\nb""#, nil),
  ])
  func anEventSaysWhoSentItInWordsThatCanBeKept(_ member: String, _ sender: String?) throws {
    let event = "{\(member),\"content\":{\"msgtype\":\"m.image\",\"body\":\"b\",\"url\":\"mxc://a/b\"}}"
    #expect(try AttachmentReader.read(Array(event.utf8)).sender?.text == sender)
  }

  @Test(arguments: [
    #"{"url":"https://x/y","sender":"@boss:x"}"#, #"{"msgtype":"m.image","url":"mxc://a/b","sender":"@boss:x"}"#,
    #"{"content":{"msgtype":"m.image","url":"mxc://a/b","sender":"@boss:x"}}"#,
  ])
  func onlyAnEventSaysWhoSentIt(_ text: String) throws {
    #expect(try AttachmentReader.read(Array(text.utf8)).sender == nil)
  }

  @Test func anImageWithoutASealIsRead() throws {
    let photo = try #require(try read("{\"msgtype\":\"m.image\",\"body\":\"b\",\"url\":\"mxc://a/b\"}").first)
    #expect(photo.file == nil && !photo.hasDigest)
  }

  @Test(arguments: [
    "{}", "{\"msgtype\":\"m.text\",\"body\":\"b\",\"url\":\"mxc://a/b\"}", "{\"content\":{\"body\":\"x\"}}",
    "{\"content\":{}}", "hello", "", "\u{0}\u{1}", "{\"msgtype\":\"m.image\",\"body\":\"b\"}",
  ])
  func announcementsWithoutAPhotoAreRefused(_ text: String) {
    #expect { try read(text) } throws: { $0.cause == .notAnAttachment }
  }

  @Test(arguments: [
    "{", "{\"url\":7}", "{\"url\":\"https://x\",\"file\":[]}", "{\"content\":7}", "{\"url\":null,\"file\":null}",
    "{\"url\":\"https://x/ y\"}", "{\"url\":\"\"}", "{\"url\":\"https://x\\u0000\"}",
  ])
  func membersOfOtherTypesAreRefused(_ text: String) {
    #expect { try read(text) } throws: { $0.cause == .malformedRequest }
  }

  @Test(arguments: [
    ("secret", String(repeating: "0f", count: 31)), ("secret", String(repeating: "0f", count: 33)), ("salt", ""),
    ("salt", "zz"), ("nonce", String(repeating: "0e", count: 13)), ("contentDigest", "abcd"), ("contentDigest", nil),
    ("secret", nil), ("salt", nil), ("nonce", nil),
  ])
  func halfAKeyIsRefusedBeforeAnythingIsFetched(_ member: String, _ value: String?) throws {
    let text = try sealed { $0[member] = value }
    #expect { try read(text) } throws: { $0.cause == .malformedRequest && !"\($0)".contains("0f0f") }
  }

  @Test(arguments: ["v1", "k", "iv", "sha256", "A256CTR"])
  func halfAMatrixFileIsRefused(_ what: String) {
    let broken: String =
      switch what {
      case "v1": Self.file.replacing("\"v2\"", with: "\"v1\"")
      case "k": Self.file.replacing("\"k\":\"____", with: "\"k\":\"")
      case "iv": Self.file.replacing("\"//////////", with: "\"//////")
      case "sha256": Self.file.replacing("sha256", with: "sha512")
      default: Self.file.replacing("A256CTR", with: "A128CTR")
      }
    #expect(broken != Self.file)
    #expect { try read("{\"msgtype\":\"m.image\",\"file\":\(broken)}") } throws: { $0.cause == .malformedRequest }
  }

  @Test(arguments: [
    ("../../etc/passwd", "passwd"), ("C:\\temp\\cat.jpg", "cat.jpg"), (" . ", "attachment"), ("", "attachment"),
    ("a\u{202e}gpj.exe\n", "agpj.exe"), ("a<b>:\"|?*.jpg", "ab.jpg"), ("/", "attachment"), (".bashrc", "bashrc"),
    ("Con.jpg", "_Con.jpg"),
  ])
  func aFileNameIsDataAndNoPath(_ name: String, _ safe: String) {
    #expect(RemotePhoto(url: "https://x", filename: name).safeFilename == safe)
  }

  @Test func aLongFileNameKeepsItsEnding() {
    let name = RemotePhoto(url: "https://x", filename: String(repeating: "ü", count: 300) + ".jpeg").safeFilename
    #expect(name.utf8.count <= 255 && name.hasSuffix("ü.jpeg"))
  }
}
