import Digests

/// A public key of 32 bytes. Matrix writes it as unpadded base64, and so does `Codable`.
package protocol PublicKey: Hashable, Sendable, Codable, CustomStringConvertible {
  var bytes: [UInt8] { get }
  /// Nil unless there are 32 bytes.
  init?(bytes: some Collection<UInt8>)
}

extension PublicKey {
  /// Decodes either alphabet, padded or not; nil for anything else.
  package init?(base64 text: some StringProtocol) {
    // 32 bytes have 43 letters, and one more when padded.
    guard text.utf8.count <= 44, let bytes = [UInt8](base64: text) else { return nil }
    self.init(bytes: bytes)
  }

  /// RFC 4648, section 4, without padding: the only form that Matrix signs and compares.
  package var base64: String { bytes.unpaddedBase64 }

  package var description: String { base64 }

  package init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    guard let key = Self(base64: try container.decode(String.self)) else {
      throw DecodingError.dataCorruptedError(in: container, debugDescription: "a public key is not 32 bytes in base64")
    }
    self = key
  }

  package func encode(to encoder: any Encoder) throws { try base64.encode(to: encoder) }
}

/// A key for agreement: X25519 (RFC 7748). Identity keys, one-time keys, fallback keys and ratchet keys are of this kind.
package struct Curve25519PublicKey: PublicKey {
  package let bytes: [UInt8]

  package init?(bytes: some Collection<UInt8>) {
    guard bytes.count == 32 else { return nil }
    self.bytes = Array(bytes)
  }
}

/// A key for signatures: Ed25519 (RFC 8032). Fingerprints of devices, cross-signing keys and Megolm sessions are of this
/// kind.
package struct Ed25519PublicKey: PublicKey {
  package let bytes: [UInt8]

  package init?(bytes: some Collection<UInt8>) {
    guard bytes.count == 32 else { return nil }
    self.bytes = Array(bytes)
  }
}
