/// A field's value in Protocol Buffers (protobuf.dev, "Encoding").
package enum ProtobufValue {
  case number(UInt64)
  case bytes(ArraySlice<UInt8>)
  /// A fixed32 or fixed64, which none of our messages has.
  case fixed
}

/// Reads fields of untrusted bytes one by one, checks every length and copies nothing.
package struct ProtobufReader<Failure: Error> {
  private var rest: ArraySlice<UInt8>
  private let failure: Failure

  /// - Parameter failure: the error for invalid bytes.
  package init(_ bytes: ArraySlice<UInt8>, failure: Failure) {
    rest = bytes
    self.failure = failure
  }

  /// The next field; nil at the end.
  package mutating func next() throws(Failure) -> (field: UInt64, value: ProtobufValue)? {
    if rest.isEmpty { return nil }
    let tag = try varint()
    let field = tag >> 3
    guard field > 0 && tag <= UInt32.max else { throw failure }
    switch tag & 7 {
    case 0: return (field, .number(try varint()))
    case 1:
      _ = try take(8)
      return (field, .fixed)
    case 2: return (field, .bytes(try take(varint())))
    case 5:
      _ = try take(4)
      return (field, .fixed)
    default: throw failure
    }
  }

  private mutating func take(_ count: UInt64) throws(Failure) -> ArraySlice<UInt8> {
    guard count <= UInt64(rest.count) else { throw failure }
    defer { rest = rest.dropFirst(Int(count)) }
    return rest.prefix(Int(count))
  }

  /// At most ten bytes; the last one has one usable bit.
  private mutating func varint() throws(Failure) -> UInt64 {
    var value: UInt64 = 0
    for shift in stride(from: UInt64(0), to: 64, by: 7) {
      guard let byte = rest.popFirst() else { throw failure }
      if shift == 63 && byte > 1 { throw failure }
      value |= UInt64(byte & 0x7f) << shift
      if byte < 0x80 { return value }
    }
    throw failure
  }
}
