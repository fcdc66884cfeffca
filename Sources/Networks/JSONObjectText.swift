/// Writes a JSON object (RFC 8259) whose members stand in the order in which they were added, which no encoder of
/// Foundation promises.
struct JSONObjectText: CustomStringConvertible {
  private var members = ""

  var description: String { "{\(members)}" }

  mutating func add(_ name: String, _ value: String) { add(name, literal: Self.quoted(value)) }
  mutating func add(_ name: String, _ value: Int) { add(name, literal: String(value)) }
  mutating func add(_ name: String, _ value: Bool) { add(name, literal: value ? "true" : "false") }
  mutating func add(_ name: String, _ value: [String]) {
    add(name, literal: "[\(value.map(Self.quoted).joined(separator: ","))]")
  }
  mutating func add(_ name: String, _ value: JSONObjectText) { add(name, literal: value.description) }

  private mutating func add(_ name: String, literal: String) {
    if !members.isEmpty { members += "," }
    members += "\(Self.quoted(name)):\(literal)"
  }

  /// Escapes what JSON asks for, and what a tool may take for a line break or a terminal for a command: the controls
  /// above 0x7e and the two Unicode separators. Slashes stay.
  private static func quoted(_ text: String) -> String {
    if text.utf8.allSatisfy(isPlain) { return "\"\(text)\"" }
    var quoted = String.UnicodeScalarView("\"".unicodeScalars)
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\"": quoted.append(contentsOf: "\\\"".unicodeScalars)
      case "\\": quoted.append(contentsOf: "\\\\".unicodeScalars)
      case "\n": quoted.append(contentsOf: "\\n".unicodeScalars)
      case "\r": quoted.append(contentsOf: "\\r".unicodeScalars)
      case "\t": quoted.append(contentsOf: "\\t".unicodeScalars)
      case "\0"..."\u{1f}", "\u{7f}"..."\u{9f}", "\u{2028}", "\u{2029}":
        let digits = String(scalar.value, radix: 16)
        quoted.append(contentsOf: "\\u\(String(repeating: "0", count: 4 - digits.count))\(digits)".unicodeScalars)
      default: quoted.append(scalar)
      }
    }
    quoted.append("\"")
    return String(quoted)
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
