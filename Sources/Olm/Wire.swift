import Digests

/// The longest message or key that is read. Matrix' events have at most 64 KiB.
let longestMessage = 1 << 20

/// The fields of one untrusted message. Every length is checked; a field that comes twice, or of a third type, is refused;
/// unknown fields are skipped.
struct WireFields {
  private var numbers: [UInt64: UInt64] = [:]
  private var texts: [UInt64: ArraySlice<UInt8>] = [:]

  /// Reads `bytes` to their end.
  init(_ bytes: ArraySlice<UInt8>) throws(OlmError) {
    var reader = ProtobufReader(bytes, failure: OlmError.malformed)
    while let (field, value) = try reader.next() {
      switch value {
      case .number(let number): guard numbers.updateValue(number, forKey: field) == nil else { throw .malformed }
      case .bytes(let text): guard texts.updateValue(text, forKey: field) == nil else { throw .malformed }
      case .fixed: throw .malformed
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
}

/// Cuts `bytes` into what is authenticated and the codes at its end, after checking size and version.
func split(_ bytes: [UInt8], version: UInt8, trailing: Int) throws(OlmError) -> (body: [UInt8], trailer: [UInt8]) {
  guard bytes.count > trailing, bytes.count <= longestMessage else { throw .malformed }
  guard bytes[0] == version else { throw .unknownVersion(bytes[0]) }
  return (Array(bytes.dropLast(trailing)), Array(bytes.suffix(trailing)))
}
