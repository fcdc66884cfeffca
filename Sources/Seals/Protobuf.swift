/// Reads fields of untrusted bytes one by one, checks every length and copies nothing. Invalid data and a known field
/// of another type are refused. Unknown fields are skipped, so that later versions stay readable.
struct ProtobufReader {
  enum Value {
    case number(UInt64)
    case bytes(ArraySlice<UInt8>)
    /// A fixed32 or fixed64, which our envelopes do not have.
    case fixed

    /// - Throws: `SealError.notAnAttachment` for any other type.
    func asNumber() throws(SealError) -> UInt64 {
      guard case .number(let number) = self else { throw .notAnAttachment }
      return number
    }

    /// - Throws: `SealError.notAnAttachment` for any other type.
    func asBytes() throws(SealError) -> ArraySlice<UInt8> {
      guard case .bytes(let bytes) = self else { throw .notAnAttachment }
      return bytes
    }

    /// - Throws: `SealError.notAnAttachment` for any other type, and for what is no UTF-8.
    func asText() throws(SealError) -> String {
      guard let text = String(validating: try asBytes(), as: UTF8.self) else { throw .notAnAttachment }
      return text
    }
  }

  private var rest: ArraySlice<UInt8>

  init(_ bytes: ArraySlice<UInt8>) { rest = bytes }

  /// The next field; nil at the end.
  mutating func next() throws(SealError) -> (field: UInt64, value: Value)? {
    if rest.isEmpty { return nil }
    let tag = try varint()
    let field = tag >> 3
    guard field > 0 && tag <= UInt32.max else { throw .notAnAttachment }
    switch tag & 7 {
    case 0: return (field, .number(try varint()))
    case 1:
      _ = try take(8)
      return (field, .fixed)
    case 2: return (field, .bytes(try take(varint())))
    case 5:
      _ = try take(4)
      return (field, .fixed)
    default: throw .notAnAttachment
    }
  }

  private mutating func take(_ count: UInt64) throws(SealError) -> ArraySlice<UInt8> {
    guard count <= UInt64(rest.count) else { throw .notAnAttachment }
    defer { rest = rest.dropFirst(Int(count)) }
    return rest.prefix(Int(count))
  }

  /// At most ten bytes; the last one has one usable bit.
  private mutating func varint() throws(SealError) -> UInt64 {
    var value: UInt64 = 0
    for shift in stride(from: UInt64(0), to: 64, by: 7) {
      guard let byte = rest.popFirst() else { throw .notAnAttachment }
      if shift == 63 && byte > 1 { throw .notAnAttachment }
      value |= UInt64(byte & 0x7f) << shift
      if byte < 0x80 { return value }
    }
    throw .notAnAttachment
  }
}
