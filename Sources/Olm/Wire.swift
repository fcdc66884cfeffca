/// The longest message or key that is read. Matrix' events have at most 64 KiB.
let longestMessage = 1 << 20

/// The fields of one untrusted message. Every length is checked; a field that comes twice, or of a third type, is refused;
/// unknown fields are skipped.
struct WireFields {
  private var numbers: [UInt64: UInt64] = [:]
  private var texts: [UInt64: ArraySlice<UInt8>] = [:]

  /// Reads `bytes` to their end.
  init(_ bytes: ArraySlice<UInt8>) throws(OlmError) {
    var rest = bytes
    while !rest.isEmpty {
      let tag = try Self.varint(&rest)
      switch tag & 7 {
      case 0:
        guard numbers.updateValue(try Self.varint(&rest), forKey: tag >> 3) == nil else { throw .malformed }
      case 2:
        let length = try Self.varint(&rest)
        guard length <= UInt64(rest.count) else { throw .malformed }
        guard texts.updateValue(rest.prefix(Int(length)), forKey: tag >> 3) == nil else { throw .malformed }
        rest = rest.dropFirst(Int(length))
      default: throw .malformed
      }
    }
  }

  func bytes(_ field: UInt64) throws(OlmError) -> [UInt8] {
    guard let value = texts[field] else { throw .malformed }
    return Array(value)
  }

  func key(_ field: UInt64) throws(OlmError) -> Curve25519PublicKey {
    guard let key = Curve25519PublicKey(bytes: try bytes(field)) else { throw .malformed }
    return key
  }

  /// The number of a message.
  func index(_ field: UInt64) throws(OlmError) -> UInt32 {
    guard let number = numbers[field], let index = UInt32(exactly: number) else { throw .malformed }
    return index
  }

  /// At most ten bytes; the last one has one usable bit.
  private static func varint(_ rest: inout ArraySlice<UInt8>) throws(OlmError) -> UInt64 {
    var value: UInt64 = 0
    for shift in stride(from: UInt64(0), to: 64, by: 7) {
      guard let byte = rest.popFirst() else { throw .malformed }
      if shift == 63 && byte > 1 { throw .malformed }
      value |= UInt64(byte & 0x7f) << shift
      if byte < 0x80 { return value }
    }
    throw .malformed
  }
}

/// Cuts `bytes` into what is authenticated and the codes at its end, after checking size and version.
func split(_ bytes: [UInt8], version: UInt8, trailing: Int) throws(OlmError) -> (body: [UInt8], trailer: [UInt8]) {
  guard bytes.count > trailing, bytes.count <= longestMessage else { throw .malformed }
  guard bytes[0] == version else { throw .unknownVersion(bytes[0]) }
  return (Array(bytes.dropLast(trailing)), Array(bytes.suffix(trailing)))
}
