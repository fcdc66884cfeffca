/// A value that a JSON object can have.
package protocol JSONMember: Sendable {
  /// Appends the value to the text of a JSON object.
  ///
  /// - Parameter depth: the depth of the value in the indented output; nil for one line.
  func writeJSON(to bytes: inout [UInt8], depth: Int?)
}

/// A JSON object (RFC 8259) with members in the order of their addition, which Foundation's encoders do not keep.
/// Members that are nil are left out.
package struct JSONObjectText: JSONMember, ExpressibleByDictionaryLiteral, CustomStringConvertible {
  private var members: [(String, (any JSONMember)?)]

  package init(dictionaryLiteral members: (String, (any JSONMember)?)...) { self.members = members }

  /// The object on one line.
  package var bytes: [UInt8] { bytes(depth: nil) }
  /// The object with a line for each member, and for each element of an array.
  package var indentedBytes: [UInt8] { bytes(depth: 0) }
  package var description: String { String(decoding: bytes, as: UTF8.self) }

  package mutating func add(_ name: String, _ value: (any JSONMember)?) { members.append((name, value)) }
  package mutating func add(_ more: JSONObjectText) { members += more.members }

  package func writeJSON(to bytes: inout [UInt8], depth: Int?) {
    let inner = depth.map { $0 + 1 }
    var isFirst = true
    bytes.append(UInt8(ascii: "{"))
    for (name, value) in members {
      guard let value else { continue }
      if !isFirst { bytes.append(UInt8(ascii: ",")) }
      isFirst = false
      bytes.breakLine(depth: inner)
      name.writeJSON(to: &bytes, depth: inner)
      bytes += depth == nil ? ":".utf8 : " : ".utf8
      value.writeJSON(to: &bytes, depth: inner)
    }
    bytes.breakLine(depth: depth)
    bytes.append(UInt8(ascii: "}"))
  }

  private func bytes(depth: Int?) -> [UInt8] {
    var bytes = [UInt8]()
    writeJSON(to: &bytes, depth: depth)
    return bytes
  }
}

extension Int: JSONMember {
  package func writeJSON(to bytes: inout [UInt8], depth: Int?) { bytes += String(self).utf8 }
}

extension Bool: JSONMember {
  package func writeJSON(to bytes: inout [UInt8], depth: Int?) { bytes += (self ? "true" : "false").utf8 }
}

extension Array: JSONMember where Element: JSONMember {
  package func writeJSON(to bytes: inout [UInt8], depth: Int?) {
    let inner = depth.map { $0 + 1 }
    bytes.append(UInt8(ascii: "["))
    for (index, element) in enumerated() {
      if index > 0 { bytes.append(UInt8(ascii: ",")) }
      bytes.breakLine(depth: inner)
      element.writeJSON(to: &bytes, depth: inner)
    }
    bytes.breakLine(depth: depth)
    bytes.append(UInt8(ascii: "]"))
  }
}

extension String: JSONMember {
  /// Escapes what JSON requires, and what a tool may take for a line break or a terminal for a command: controls above
  /// 0x7e and the two Unicode separators. Slashes stay.
  package func writeJSON(to bytes: inout [UInt8], depth: Int?) {
    bytes.append(UInt8(ascii: "\""))
    let isPlain = utf8.withContiguousStorageIfAvailable { $0.allSatisfy(Self.isPlain) }
    if isPlain ?? false {
      bytes += utf8
    } else {
      for scalar in unicodeScalars { bytes.appendEscaped(scalar) }
    }
    bytes.append(UInt8(ascii: "\""))
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

extension [UInt8] {
  /// Begins an indented line, unless the output is on one line.
  fileprivate mutating func breakLine(depth: Int?) {
    guard let depth else { return }
    append(UInt8(ascii: "\n"))
    self += repeatElement(UInt8(ascii: " "), count: 2 * depth)
  }

  fileprivate mutating func appendEscaped(_ scalar: Unicode.Scalar) {
    switch scalar {
    case "\"": self += "\\\"".utf8
    case "\\": self += "\\\\".utf8
    case "\n": self += "\\n".utf8
    case "\r": self += "\\r".utf8
    case "\t": self += "\\t".utf8
    case "\0"..."\u{1f}", "\u{7f}"..."\u{9f}", "\u{2028}", "\u{2029}":
      let digits = String(scalar.value, radix: 16)
      self += "\\u\(String(repeating: "0", count: 4 - digits.count))\(digits)".utf8
    default: self += UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter
    }
  }
}
