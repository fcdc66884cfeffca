import Digests

/// Invalid envelopes and a known field of another type are refused. Unknown fields are skipped, so that later versions
/// stay readable.
extension ProtobufReader<SealError> {
  init(_ bytes: ArraySlice<UInt8>) { self.init(bytes, failure: .notAnAttachment) }
}

/// - Throws: `SealError.notAnAttachment` for a value of another type, and for a text that is no UTF-8.
extension ProtobufValue {
  func asNumber() throws(SealError) -> UInt64 {
    guard case .number(let number) = self else { throw .notAnAttachment }
    return number
  }

  func asBytes() throws(SealError) -> ArraySlice<UInt8> {
    guard case .bytes(let bytes) = self else { throw .notAnAttachment }
    return bytes
  }

  func asText() throws(SealError) -> String {
    guard let text = String(validating: try asBytes(), as: UTF8.self) else { throw .notAnAttachment }
    return text
  }
}
