import Glibc

/// Reads numbers and finds patterns in part of an untrusted file, within `range` only.
struct ByteReader {
  let bytes: [UInt8]
  let range: Range<Int>
  var isLittleEndian = false

  init(_ bytes: [UInt8], _ range: Range<Int>) {
    self.bytes = bytes
    self.range = range.clamped(to: bytes.indices)
  }

  var count: Int { range.count }

  func dropFirst(_ count: Int) -> ByteReader {
    ByteReader(bytes, min(range.lowerBound + max(0, count), range.upperBound)..<range.upperBound)
  }

  /// `count` bytes from `offset`, or fewer at the end.
  func part(at offset: Int, count: Int) -> ByteReader {
    let start = min(range.lowerBound + max(0, offset), range.upperBound)
    return ByteReader(bytes, start..<min(start + max(0, count), range.upperBound))
  }

  func byte(at offset: Int) -> UInt8? {
    guard offset >= 0, offset < count else { return nil }
    return bytes[range.lowerBound + offset]
  }

  func uint16(at offset: Int) -> Int? { integer(at: offset, length: 2) }
  func uint32(at offset: Int) -> Int? { integer(at: offset, length: 4) }

  /// A number of up to eight bytes; nil if it is not within the range, or beyond Int.
  func number(at offset: Int, length: Int) -> Int? {
    guard (0...8).contains(length), let value = integer(at: offset, length: length), value >= 0 else { return nil }
    return value
  }

  /// Four characters, as boxes and items are named.
  func name(at offset: Int) -> String? {
    guard offset >= 0, offset <= count - 4 else { return nil }
    return String(decoding: bytes[range.lowerBound + offset..<range.lowerBound + offset + 4], as: UTF8.self)
  }

  func begins(with text: StaticString, at offset: Int = 0) -> Bool {
    guard offset >= 0, offset <= count, count - offset >= text.utf8CodeUnitCount else { return false }
    let rest = bytes[range.lowerBound + offset..<range.upperBound]
    return text.withUTF8Buffer { rest.starts(with: $0) }
  }

  func contains(_ text: String) -> Bool { contains(Array(text.utf8)) }

  func contains(_ pattern: [UInt8]) -> Bool {
    guard count >= pattern.count else { return false }
    return bytes.withUnsafeBytes { whole in
      guard let base = whole.baseAddress else { return false }
      var offset = range.lowerBound
      let last = range.upperBound - pattern.count
      while offset <= last, let found = memchr(base + offset, Int32(pattern[0]), last - offset + 1) {
        if memcmp(found, pattern, pattern.count) == 0 { return true }
        offset = UnsafeRawPointer(found) - base + 1
      }
      return false
    }
  }

  private func integer(at offset: Int, length: Int) -> Int? {
    guard offset >= 0, offset <= count - length else { return nil }
    let start = range.lowerBound + offset
    var value = 0
    for index in 0..<length {
      value |= Int(bytes[start + index]) << (8 * (isLittleEndian ? index : length - 1 - index))
    }
    return value
  }
}
