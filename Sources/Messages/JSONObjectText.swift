/// Writes a JSON object (RFC 8259) with members in the order of their addition, which Foundation's encoders do not
/// keep.
package struct JSONObjectText: CustomStringConvertible, Sendable {
  private var members = [UInt8]()
  /// The object's depth in the indented output; nil for one line.
  private let depth: Int?

  /// An object on one line.
  package init() { depth = nil }

  /// An indented object.
  ///
  /// - Parameter depth: 0 for the outermost object, 2 for those in its arrays.
  package init(indentedAt depth: Int) { self.depth = depth }

  package var bytes: [UInt8] { [UInt8(ascii: "{")] + members + lineBreak(0) + [UInt8(ascii: "}")] }
  package var description: String { String(decoding: bytes, as: UTF8.self) }

  package mutating func add(_ name: String, _ value: String) {
    begin(name)
    append(value)
  }
  package mutating func add(_ name: String, _ value: Int) {
    begin(name)
    members += String(value).utf8
  }
  package mutating func add(_ name: String, _ value: Bool) {
    begin(name)
    members += (value ? "true" : "false").utf8
  }
  package mutating func add(_ name: String, _ value: [String]) {
    begin(name)
    members.append(UInt8(ascii: "["))
    for (index, text) in value.enumerated() {
      if index > 0 { members.append(UInt8(ascii: ",")) }
      append(text)
    }
    members.append(UInt8(ascii: "]"))
  }
  package mutating func add(_ name: String, _ value: JSONObjectText) {
    begin(name)
    members += value.bytes
  }

  /// Adds objects, each made with a `depth` of 2 more than this one's, or all on one line.
  package mutating func add(_ name: String, _ value: [JSONObjectText]) {
    begin(name)
    members.append(UInt8(ascii: "["))
    for (index, object) in value.enumerated() {
      if index > 0 { members.append(UInt8(ascii: ",")) }
      members += lineBreak(2) + object.bytes
    }
    members += lineBreak(1) + [UInt8(ascii: "]")]
  }

  private mutating func begin(_ name: String) {
    if !members.isEmpty { members.append(UInt8(ascii: ",")) }
    members += lineBreak(1)
    append(name)
    members += depth == nil ? ":".utf8 : " : ".utf8
  }

  /// A line break with indentation, unless the object is on one line.
  private func lineBreak(_ more: Int) -> [UInt8] {
    guard let depth else { return [] }
    return [UInt8(ascii: "\n")] + [UInt8](repeating: UInt8(ascii: " "), count: 2 * (depth + more))
  }

  /// Escapes what JSON requires, and what a tool may take for a line break or a terminal for a command: controls above
  /// 0x7e and the two Unicode separators. Slashes stay.
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

  /// Whether a byte of UTF-8 certainly belongs to no escaped scalar: not a control, quote or backslash, and not the
  /// first byte of U+0080 to U+00BF or U+2000 to U+2FFF.
  private static func isPlain(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), 0..<0x20, 0x7f, 0xc2, 0xe2: false
    default: true
    }
  }
}
