import COpenSSL
import Digests

/// Key material. Logs and debugger dumps do not show it; `Codable` writes it as unpadded base64, for files that only the
/// daemon's user can read.
package struct SecretBytes: Sendable, Codable, CustomStringConvertible, CustomReflectable {
  package private(set) var bytes: [UInt8]

  package init(_ bytes: [UInt8]) { self.bytes = bytes }

  /// That many bytes of OpenSSL's generator.
  package static func random(_ count: Int) throws(OlmError) -> SecretBytes {
    var bytes = [UInt8](repeating: 0, count: count)
    guard RAND_priv_bytes(&bytes, Int32(count)) == 1 else {
      ERR_clear_error()
      throw .unavailable("random numbers")
    }
    return SecretBytes(bytes)
  }

  package init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    guard let bytes = [UInt8](base64: try container.decode(String.self)) else {
      throw DecodingError.dataCorruptedError(in: container, debugDescription: "key material is not base64")
    }
    self.bytes = bytes
  }

  package func encode(to encoder: any Encoder) throws { try bytes.unpaddedBase64.encode(to: encoder) }

  /// Compares in a time that depends on the lengths only.
  package func equals(_ other: SecretBytes) -> Bool { isEqualInConstantTime(bytes, other.bytes) }

  package var description: String { "(key material)" }
  package var customMirror: Mirror { Mirror(self, children: []) }
}

/// Compares in a time that depends on the lengths only.
func isEqualInConstantTime(_ one: some Collection<UInt8>, _ other: some Collection<UInt8>) -> Bool {
  let (one, other) = (Array(one), Array(other))
  return one.count == other.count && CRYPTO_memcmp(one, other, one.count) == 0
}
