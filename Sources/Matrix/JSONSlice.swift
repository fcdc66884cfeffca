import FoundationEssentials

/// A value within a JSON text (RFC 8259), parsed lazily. An invalid or deeply nested value does not affect its
/// neighbours, as it would in a decoder of the whole, and unused values cost no memory.
package struct JSONSlice: Sendable {
  private let text: [UInt8]
  private let range: Range<Int>

  /// The whole text, which must be one value; nil if it ends earlier or later.
  package init?(_ text: [UInt8]) {
    self.text = text
    let start = Self.afterBlanks(text, 0)
    guard let end = Self.end(of: text, from: start), Self.afterBlanks(text, end) == text.count else { return nil }
    range = start..<end
  }

  private init(_ text: [UInt8], _ range: Range<Int>) {
    self.text = text
    self.range = range
  }

  package var count: Int { range.count }

  /// The decoded value; nil if it has another type.
  package func decoded<Value: Decodable>(as type: Value.Type) -> Value? {
    try? JSONDecoder().decode(type, from: Data(text[range]))
  }

  /// The members of an object in order, up to the first invalid one; empty for other values.
  package var members: [(name: String, value: JSONSlice)] {
    guard text[range.lowerBound] == UInt8(ascii: "{") else { return [] }
    var found = [(name: String, value: JSONSlice)]()
    var position = Self.afterBlanks(text, range.lowerBound + 1)
    while position < range.upperBound, text[position] == UInt8(ascii: "\""),
      let end = Self.end(of: text, from: position), let name = JSONSlice(text, position..<end).decoded(as: String.self)
    {
      let colon = Self.afterBlanks(text, end)
      guard colon < range.upperBound, text[colon] == UInt8(ascii: ":") else { break }
      let start = Self.afterBlanks(text, colon + 1)
      guard let end = Self.end(of: text, from: start), end < range.upperBound else { break }
      found.append((name, JSONSlice(text, start..<end)))
      position = Self.afterComma(text, end)
    }
    return found
  }

  package subscript(_ name: String) -> JSONSlice? { members.first { $0.name == name }?.value }

  /// The elements of an array in order, up to the first invalid one; empty for other values.
  package var elements: [JSONSlice] {
    guard text[range.lowerBound] == UInt8(ascii: "[") else { return [] }
    var found = [JSONSlice]()
    var position = Self.afterBlanks(text, range.lowerBound + 1)
    while let end = Self.end(of: text, from: position), end < range.upperBound {
      found.append(JSONSlice(text, position..<end))
      position = Self.afterComma(text, end)
    }
    return found
  }

  private static func afterBlanks(_ text: [UInt8], _ start: Int) -> Int {
    var position = start
    while position < text.count, [0x20, 0x09, 0x0a, 0x0d].contains(text[position]) { position += 1 }
    return position
  }

  private static func afterComma(_ text: [UInt8], _ start: Int) -> Int {
    let comma = afterBlanks(text, start)
    return comma < text.count && text[comma] == UInt8(ascii: ",") ? afterBlanks(text, comma + 1) : text.count
  }

  /// The end of the value at `start`, if valid. Not recursive.
  private static func end(of text: [UInt8], from start: Int) -> Int? {
    var depth = 0
    var position = start
    while position < text.count {
      switch text[position] {
      case UInt8(ascii: "\""):
        guard let end = endOfString(text, from: position) else { return nil }
        position = end
      case UInt8(ascii: "{"), UInt8(ascii: "["):
        depth += 1
        position += 1
      case UInt8(ascii: "}"), UInt8(ascii: "]"):
        depth -= 1
        position += 1
        if depth < 0 { return nil }
      case UInt8(ascii: ","), UInt8(ascii: ":"), 0x20, 0x09, 0x0a, 0x0d:
        if depth == 0 { return nil }
        position += 1
      default:
        // A number or a word.
        while position < text.count, isOfWord(text[position]) { position += 1 }
      }
      if depth == 0 { return position }
    }
    return nil
  }

  private static func isOfWord(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "\""), UInt8(ascii: "{"), UInt8(ascii: "["), UInt8(ascii: "}"), UInt8(ascii: "]"),
      UInt8(ascii: ","), UInt8(ascii: ":"), 0x20, 0x09, 0x0a, 0x0d:
      false
    default: true
    }
  }

  private static func endOfString(_ text: [UInt8], from start: Int) -> Int? {
    var position = start + 1
    while position < text.count {
      switch text[position] {
      case UInt8(ascii: "\""): return position + 1
      case UInt8(ascii: "\\"): position += 2
      default: position += 1
      }
    }
    return nil
  }
}
