import Digests

/// The public keys with which an Olm session was opened; they are the same on both sides.
package struct OlmSessionKeys: Hashable, Sendable, Codable {
  /// The identity key of the device that opened the session.
  package let identityKey: Curve25519PublicKey
  /// A key for this session only, of the same device.
  package let baseKey: Curve25519PublicKey
  /// The one-time or fallback key of the device that accepted the session.
  package let oneTimeKey: Curve25519PublicKey

  /// SHA-256 of the three keys in base64, as other implementations have it.
  package var sessionID: String {
    SHA256Digest(of: identityKey.bytes + baseKey.bytes + oneTimeKey.bytes).bytes.unpaddedBase64
  }
}
