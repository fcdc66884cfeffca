/// A SHA-256 digest (FIPS 180-4): 32 bytes.
package struct SHA256Digest: Hashable, Sendable, CustomStringConvertible {
  package let bytes: [UInt8]

  package init(of data: [UInt8]) {
    var hasher = SHA256Hasher()
    data.withUnsafeBytes { hasher.update($0) }
    self = hasher.finish()
  }

  /// Decodes 64 hexadecimal characters; nil for anything else.
  package init?(hex: some StringProtocol) {
    guard let bytes = [UInt8](hex: hex), bytes.count == 32 else { return nil }
    self.bytes = bytes
  }

  init(bytes: [UInt8]) { self.bytes = bytes }

  package var hex: String { bytes.hex }
  package var description: String { hex }
}
