/// Writes a JSON object (RFC 8259) whose members stand in the order in which they were added, which no encoder of
/// Foundation promises.
struct JSONObjectText: CustomStringConvertible {
  private var members = [UInt8]()

  /// The object in UTF-8.
  var bytes: [UInt8] { [UInt8(ascii: "{")] + members + [UInt8(ascii: "}")] }
  var description: String { String(decoding: bytes, as: UTF8.self) }

  mutating func add(_ name: String, _ value: String) {
    begin(name)
    append(value)
  }
  mutating func add(_ name: String, _ value: Int) {
    begin(name)
    members += String(value).utf8
  }
  mutating func add(_ name: String, _ value: Bool) {
    begin(name)
    members += (value ? "true" : "false").utf8
  }
  mutating func add(_ name: String, _ value: [String]) {
    begin(name)
    members.append(UInt8(ascii: "["))
    for (index, text) in value.enumerated() {
      if index > 0 { members.append(UInt8(ascii: ",")) }
      append(text)
    }
    members.append(UInt8(ascii: "]"))
  }
  mutating func add(_ name: String, _ value: JSONObjectText) {
    begin(name)
    members += value.bytes
  }

  private mutating func begin(_ name: String) {
    if !members.isEmpty { members.append(UInt8(ascii: ",")) }
    append(name)
    members.append(UInt8(ascii: ":"))
  }

  /// Escapes what JSON asks for, and what a tool may take for a line break or a terminal for a command: the controls
  /// above 0x7e and the two Unicode separators. Slashes stay.
  private mutating func append(_ text: String) {
    members.append(UInt8(ascii: "\""))
    let isPlain = text.utf8.withContiguousStorageIfAvailable { $0.allSatisfy(Self.isPlain) }
    if isPlain ?? false {
      members += text.utf8
    } else {
      for scalar in text.unicodeScalars { append(scalar) }
    }
    members.append(UInt8(ascii: "\""))
  }

  private mutating func append(_ scalar: Unicode.Scalar) {
    switch scalar {
    case "\"": members += "\\\"".utf8
    case "\\": members += "\\\\".utf8
    case "\n": members += "\\n".utf8
    case "\r": members += "\\r".utf8
    case "\t": members += "\\t".utf8
    case "\0"..."\u{1f}", "\u{7f}"..."\u{9f}", "\u{2028}", "\u{2029}":
      let digits = String(scalar.value, radix: 16)
      members += "\\u\(String(repeating: "0", count: 4 - digits.count))\(digits)".utf8
    default: members += UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter
    }
  }

  /// Whether a byte of UTF-8 is surely none of a scalar that is escaped: no control, quote or backslash, and not the first of
  /// those from U+0080 to U+00BF and from U+2000 to U+2FFF.
  private static func isPlain(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), 0..<0x20, 0x7f, 0xc2, 0xe2: false
    default: true
    }
  }
}
