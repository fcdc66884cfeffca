/// A SHA-256 digest (FIPS 180-4): 32 bytes.
public struct SHA256Digest: Hashable, Sendable, CustomStringConvertible {
  public let bytes: [UInt8]

  /// The digest of `data`.
  public init(of data: [UInt8]) {
    var hasher = SHA256Hasher()
    data.withUnsafeBytes { hasher.update($0) }
    self = hasher.finish()
  }

  /// Takes a digest from its 64 hexadecimal characters; nil when they are none.
  public init?(hex: some StringProtocol) {
    guard let bytes = [UInt8](hex: hex), bytes.count == 32 else { return nil }
    self.bytes = bytes
  }

  init(bytes: [UInt8]) { self.bytes = bytes }

  /// 64 lower-case hexadecimal characters.
  public var hex: String { bytes.hex }
  public var description: String { hex }
}
