extension JSONValue {
  /// The one form of a value that Matrix signs: sorted members, no spaces, whole numbers only. nil for a value with a
  /// fraction. Source: the Matrix specification, appendix "Canonical JSON".
  package var canonical: [UInt8]? {
    var bytes = [UInt8]()
    return append(to: &bytes) ? bytes : nil
  }

  private func append(to bytes: inout [UInt8]) -> Bool {
    switch self {
    case .null: bytes += "null".utf8
    case .flag(let flag): bytes += (flag ? "true" : "false").utf8
    case .whole(let whole): bytes += String(whole).utf8
    case .number: return false
    case .text(let text): Self.append(text, to: &bytes)
    case .list(let list):
      bytes.append(UInt8(ascii: "["))
      for (index, value) in list.enumerated() {
        if index > 0 { bytes.append(UInt8(ascii: ",")) }
        guard value.append(to: &bytes) else { return false }
      }
      bytes.append(UInt8(ascii: "]"))
    case .object(let members):
      bytes.append(UInt8(ascii: "{"))
      // The order of UTF-8 bytes is that of code points.
      let sorted = members.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }
      for (index, (name, value)) in sorted.enumerated() {
        if index > 0 { bytes.append(UInt8(ascii: ",")) }
        Self.append(name, to: &bytes)
        bytes.append(UInt8(ascii: ":"))
        guard value.append(to: &bytes) else { return false }
      }
      bytes.append(UInt8(ascii: "}"))
    }
    return true
  }

  /// Escapes only what JSON requires.
  private static func append(_ text: String, to bytes: inout [UInt8]) {
    bytes.append(UInt8(ascii: "\""))
    for byte in text.utf8 {
      switch byte {
      case UInt8(ascii: "\""): bytes += "\\\"".utf8
      case UInt8(ascii: "\\"): bytes += "\\\\".utf8
      case 0x08: bytes += "\\b".utf8
      case 0x09: bytes += "\\t".utf8
      case 0x0a: bytes += "\\n".utf8
      case 0x0c: bytes += "\\f".utf8
      case 0x0d: bytes += "\\r".utf8
      case ..<0x20:
        let digits = String(byte, radix: 16)
        bytes += "\\u\(String(repeating: "0", count: 4 - digits.count))\(digits)".utf8
      default: bytes.append(byte)
      }
    }
    bytes.append(UInt8(ascii: "\""))
  }
}
