@testable import Web

extension FuzzTarget {
  static let web: [FuzzTarget] = [multipart, form, markup]

  private static let dialogue = [
    "--x", "\r\n", "--", "Content-Disposition: form-data", "; name=\"a\"", "; filename=\"b\"", "\"", ";", "=", "%22",
  ]

  /// Reads a body in pieces of `size`; nil if it is malformed.
  private static func parts(_ body: [UInt8], pieces size: Int) -> [(MultipartReader.Part, [UInt8])]? {
    do {
      var reader = try MultipartReader(contentType: "multipart/form-data; boundary=x")
      var parts: [(MultipartReader.Part, [UInt8])] = []
      for start in stride(from: 0, to: body.count, by: size) {
        try reader.read(body[start..<min(start + size, body.count)]) { event in
          switch event {
          case .begin(let part): parts.append((part, []))
          case .bytes(let bytes): parts[parts.count - 1].1 += bytes
          case .end: break
          }
        }
      }
      try reader.finish()
      return parts
    } catch { return nil }
  }

  static let multipart = FuzzTarget("multipart", words: dialogue) { input throws(BrokenProperty) in
    let whole = parts(input, pieces: max(1, input.count))
    for size in [1, 7] {
      let pieces = parts(input, pieces: size)
      try hold(
        whole?.map(\.0) == pieces?.map(\.0) && whole?.map(\.1) == pieces?.map(\.1), "pieces of \(size) differ")
    }
    _ = try? MultipartReader(contentType: String(decoding: input, as: UTF8.self))
  }

  static let form = FuzzTarget("form", words: ["&", "=", "+", "%", "%00", "%C3%BC"]) { input throws(BrokenProperty) in
    _ = formFields(String(decoding: input, as: UTF8.self))
  }

  /// Swift's characters decide what a template escapes.
  static let markup = FuzzTarget(
    "markup", words: ["<", ">", "&", "\"", "'", "\u{301}", "\u{200D}", "\u{FE0F}", "\u{202E}"]
  ) { input throws(BrokenProperty) in
    let text = shown(String(decoding: input, as: UTF8.self))
    let scalars = text.unicodeScalars.count { ["<", ">", "&", "\"", "'"].contains($0) }
    let characters = text.count { ["<", ">", "&", "\"", "'"].contains($0) }
    try hold(scalars == characters, "markup hides in a character of \(text.debugDescription)")
    try hold(inAddress(text).utf8.allSatisfy { (0x21...0x7E).contains($0) }, "an address is not plain")
  }
}
