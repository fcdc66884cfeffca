/// Writes the two wire types that our envelopes use. Source: protobuf.dev, "Encoding".
struct ProtobufWriter {
  private(set) var bytes: [UInt8] = []

  mutating func write(_ field: UInt64, _ value: UInt64) {
    writeVarint(field << 3)
    writeVarint(value)
  }

  mutating func write(_ field: UInt64, _ value: [UInt8]) {
    writeVarint(field << 3 | 2)
    writeVarint(UInt64(value.count))
    bytes += value
  }

  mutating func write(_ field: UInt64, _ value: String) { write(field, Array(value.utf8)) }

  private mutating func writeVarint(_ value: UInt64) {
    var rest = value
    while rest >= 0x80 {
      bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
      rest >>= 7
    }
    bytes.append(UInt8(truncatingIfNeeded: rest))
  }
}

/// Reads fields of hostile bytes one by one: every length is checked, nothing is copied.
struct ProtobufReader {
  enum Value {
    case number(UInt64)
    case bytes(ArraySlice<UInt8>)
    /// A fixed32 or fixed64, which our envelopes do not have.
    case other
  }

  private var rest: ArraySlice<UInt8>

  init(_ bytes: ArraySlice<UInt8>) { rest = bytes }

  /// The next field; nil at the end.
  mutating func next() throws(SealError) -> (field: UInt64, value: Value)? {
    if rest.isEmpty { return nil }
    let tag = try varint()
    switch tag & 7 {
    case 0: return (tag >> 3, .number(try varint()))
    case 1:
      _ = try take(8)
      return (tag >> 3, .other)
    case 2: return (tag >> 3, .bytes(try take(varint())))
    case 5:
      _ = try take(4)
      return (tag >> 3, .other)
    default: throw .notAnAttachment
    }
  }

  private mutating func take(_ count: UInt64) throws(SealError) -> ArraySlice<UInt8> {
    guard count <= UInt64(rest.count) else { throw .notAnAttachment }
    defer { rest = rest.dropFirst(Int(count)) }
    return rest.prefix(Int(count))
  }

  private mutating func varint() throws(SealError) -> UInt64 {
    var value: UInt64 = 0
    for shift in stride(from: UInt64(0), to: 64, by: 7) {
      guard let byte = rest.popFirst() else { throw .notAnAttachment }
      value |= UInt64(byte & 0x7f) << shift
      if byte < 0x80 { return value }
    }
    throw .notAnAttachment
  }
}
