import Digests
import Testing

@testable import Seals

@Suite struct EncodedContentTests {
  private let good = EncodedContent.attachment([1, 2, 3], filename: "f", mimeType: "m")

  @Test func contentSurvivesARoundTrip() throws {
    var content = good
    content.fallback = "Can't display f."
    #expect(try EncodedContent(decoding: content.encoded()) == content)
    #expect(try EncodedContent(decoding: good.encoded()) == good)
  }

  @Test func parametersAreReadInAnyOrder() throws {
    let swapped = try #require(
      [UInt8](
        hex: "0a180a08786d74702e6f7267120a6174746163686d656e741801"
          + "120d0a086d696d6554797065" + "12016d" + "120d0a0866696c656e616d65" + "120166" + "2203010203"))
    #expect(try EncodedContent(decoding: swapped) == good)
  }

  @Test(arguments: ["3001", "3a0161", "4501020304", "490102030405060708", "a2060161"])
  func aFieldOfALaterVersionIsPassedOver(_ field: String) throws {
    let bytes = try #require([UInt8](hex: field))
    #expect(try EncodedContent(decoding: good.encoded() + bytes) == good)
    #expect(try EncodedContent(decoding: bytes + good.encoded()) == good)
  }

  @Test(arguments: [
    ("a length beyond the end", "2203ff"),
    ("a length beyond 64 bits", "22ffffffffffffffffff7f"),
    ("an endless number", "30ffffffffffffffffffff01"),
    ("a number that ends in its middle", "30ff"),
    ("field 0", "0201ff"),
    ("a field beyond 29 bits", "828080804000"),
    ("a group", "33"),
    ("a group's end", "34"),
    ("wire type 6", "36"),
    ("wire type 7", "37"),
    ("half a fixed32", "45010203"),
    ("half a fixed64", "4901020304"),
    ("a type that is a number", "0801"),
    ("a parameter that is a number", "1001"),
    ("a content that is a number", "2001"),
    ("a content that is fixed", "2501020304"),
    ("an authority that is no UTF-8", "0a030a01ff"),
    ("a parameter that is no UTF-8", "12030a01ff"),
    ("a fallback that is no UTF-8", "1a01c3"),
    ("a version that is a text", "0a031a0131"),
  ])
  func invalidEnvelopesAreRefused(_ what: String, _ field: String) throws {
    let bytes = try #require([UInt8](hex: field))
    #expect(throws: SealError.notAnAttachment, "\(what)") { try EncodedContent(decoding: good.encoded() + bytes) }
  }

  @Test(arguments: ["2800", "2801"]) func compressedContentIsRefusedAsSuch(_ field: String) throws {
    let bytes = try #require([UInt8](hex: field))
    #expect(throws: SealError.compressed) { try EncodedContent(decoding: good.encoded() + bytes) }
  }

  @Test func everyCutInsideAFieldIsRefused() {
    let bytes = good.encoded()
    let wholes = (0..<bytes.count).filter { (try? EncodedContent(decoding: Array(bytes.prefix($0)))) != nil }
    // Nothing, the type, the type and one or two parameters.
    #expect(wholes == [0, 26, 41, 56])
  }
}
