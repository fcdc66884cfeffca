import Testing

@testable import Web

@Suite struct MultipartReaderTests {
  private typealias Event = MultipartReader.Event
  private static let type = "multipart/form-data; boundary=x-1"

  /// The parts of a body that comes in pieces.
  private static func parts(
    _ body: String, pieces: Int, type: String = type
  ) throws -> [(MultipartReader.Part, String)] {
    var reader = try MultipartReader(contentType: type)
    var parts: [(MultipartReader.Part, [UInt8])] = []
    var isOpen = false
    let bytes = Array(body.utf8)
    for start in stride(from: 0, to: bytes.count, by: pieces) {
      try reader.read(bytes[start..<min(start + pieces, bytes.count)]) { event in
        switch event {
        case .begin(let part):
          #expect(!isOpen)
          isOpen = true
          parts.append((part, []))
        case .bytes(let bytes): parts[parts.count - 1].1 += bytes
        case .end: isOpen = false
        }
      }
    }
    try reader.finish()
    #expect(!isOpen)
    return parts.map { ($0, String(decoding: $1, as: UTF8.self)) }
  }

  private static let body = """
    --x-1\r\nContent-Disposition: form-data; name="text"\r\n\r\nTwo\r\nlines --x-1\r\n--x-1\r\n\
    Content-Disposition: form-data; name="photo"; filename="a; \\"b%22.jpg"\r\nContent-Type: image/jpeg\r\n\r\n\
    \r\n--x-\r\n--x-1\r\ncontent-disposition:form-data;name=empty\r\n\r\n\r\n--x-1--\r\n
    """

  @Test("A body gives the same parts in whatever pieces it comes", arguments: [1, 2, 3, 7, 64, 4096])
  func pieces(size: Int) throws {
    let parts = try Self.parts(Self.body, pieces: size)
    #expect(parts.map(\.0.name) == ["text", "photo", "empty"])
    #expect(parts.map(\.0.fileName) == [nil, "a; \\\"b\".jpg", nil])
    #expect(parts.map(\.1) == ["Two\r\nlines --x-1", "\r\n--x-", ""])
  }

  @Test("A boundary may be quoted, and text before the first part is skipped")
  func preamble() throws {
    let parts = try Self.parts(
      "hello\r\n--a b\r\nContent-Disposition: form-data; name=\"n\"\r\n\r\n1\r\n--a b--", pieces: 5,
      type: "multipart/form-data; charset=utf-8; boundary=\"a b\"")
    #expect(parts.map(\.1) == ["1"])
  }

  @Test(
    "A body that ends early, or has a part without a name, is malformed",
    arguments: [
      "", "--x-1", "--x-1\r\nContent-Disposition: form-data; name=\"n\"\r\n\r\n1", "--x-1\r\n\r\n1\r\n--x-1--",
      "--x-1\r\nContent-Disposition: form-data; name=\"n\"\r\n\r\n1\r\n--x-1*",
      "--x-1\r\nContent-Type: a\r\n\r\n1\r\n--x-1--",
    ])
  func malformed(body: String) {
    #expect(throws: MultipartReader.Malformed.self) { try Self.parts(body, pieces: 4) }
  }

  @Test("A header of more than 4 kB is malformed, so that it cannot fill the memory")
  func longHeader() {
    let header = "--x-1\r\nContent-Disposition: form-data; name=\"\(String(repeating: "n", count: 5000))"
    #expect(throws: MultipartReader.Malformed.self) { try Self.parts(header, pieces: 100) }
  }

  @Test(
    "Another type than a form with files, or a missing boundary, is malformed",
    arguments: [
      "", "text/plain", "multipart/form-data", "multipart/mixed; boundary=a", "multipart/form-data; boundary=",
    ])
  func types(type: String) {
    #expect(throws: MultipartReader.Malformed.self) { try MultipartReader(contentType: type) }
  }
}
