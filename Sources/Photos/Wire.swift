/// Writes messages between the daemon and a locked process: 64-bit little-endian numbers, and bytes after their count.
package struct WireWriter {
  package private(set) var bytes: [UInt8] = []

  package init() {}

  package mutating func put(_ number: Int) {
    withUnsafeBytes(of: Int64(number).littleEndian) { bytes.append(contentsOf: $0) }
  }

  package mutating func put(_ contents: [UInt8]) {
    put(contents.count)
    bytes.append(contentsOf: contents)
  }

  package mutating func put(_ text: String) { put(Array(text.utf8)) }

  package mutating func put(_ texts: [String]) {
    put(texts.count)
    for text in texts { put(text) }
  }
}

/// Reads such messages from a process that may be compromised, and checks every count.
package struct WireReader {
  /// Invalid input.
  package struct Nonsense: Error {
    package init() {}
  }

  private let bytes: [UInt8]
  private var offset = 0

  package init(_ bytes: [UInt8]) { self.bytes = bytes }

  package mutating func number() throws(Nonsense) -> Int {
    guard bytes.count - offset >= 8 else { throw Nonsense() }
    var value: UInt64 = 0
    for index in 0..<8 { value |= UInt64(bytes[offset + index]) << (8 * index) }
    offset += 8
    return Int(truncatingIfNeeded: value)
  }

  package mutating func number(in range: ClosedRange<Int>) throws(Nonsense) -> Int {
    let number = try number()
    guard range.contains(number) else { throw Nonsense() }
    return number
  }

  package mutating func contents(limit: Int) throws(Nonsense) -> [UInt8] {
    let count = try number(in: 0...max(0, limit))
    guard bytes.count - offset >= count else { throw Nonsense() }
    defer { offset += count }
    return Array(bytes[offset..<offset + count])
  }

  package mutating func text(limit: Int) throws(Nonsense) -> String {
    String(decoding: try contents(limit: limit), as: UTF8.self)
  }

  /// A text on one line without terminal controls.
  package mutating func line(limit: Int) throws(Nonsense) -> String {
    let text = try text(limit: limit)
    let hidden: [Unicode.GeneralCategory] = [.control, .format, .lineSeparator, .paragraphSeparator]
    guard !text.unicodeScalars.contains(where: { hidden.contains($0.properties.generalCategory) }) else {
      throw Nonsense()
    }
    return text
  }

  /// At most `most` lines.
  package mutating func lines(_ most: Int, limit: Int) throws(Nonsense) -> [String] {
    var lines: [String] = []
    for _ in 0..<(try number(in: 0...most)) { lines.append(try line(limit: limit)) }
    return lines
  }

  package func end() throws(Nonsense) {
    guard offset == bytes.count else { throw Nonsense() }
  }
}
