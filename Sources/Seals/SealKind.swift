import Messages

/// The seals, by their words in the configuration.
package enum SealKind: String, CaseIterable, Sendable {
  /// RemoteAttachment: AES-256-GCM under keys derived by HKDF-SHA256.
  case xmtp
  /// EncryptedFile v2: AES-256-CTR with its own key.
  case matrix
  /// No encryption: everybody who can read the store sees the photos.
  case unsealed = "none"

  /// The seal, after a first use.
  ///
  /// - Throws: what prevents sealing.
  package func load() throws(DeliveryError) -> any Seal {
    switch self {
    case .xmtp: try XMTPSeal().loaded()
    case .matrix: try MatrixSeal().loaded()
    case .unsealed: NoSeal()
    }
  }
}
