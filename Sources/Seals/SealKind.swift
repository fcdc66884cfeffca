import Messages

/// How photos of a network are sealed, by the word of the configuration.
package enum SealKind: String, CaseIterable, Sendable {
  /// RemoteAttachment: AES-256-GCM under keys derived by HKDF-SHA256.
  case xmtp
  /// EncryptedFile v2: AES-256-CTR under a key of its own.
  case matrix
  /// No encryption: whoever can read the store sees the photos.
  case unsealed = "none"

  /// The seal, which has sealed once already.
  ///
  /// - Throws: what keeps it from sealing.
  package func load() throws(DeliveryError) -> any Seal {
    switch self {
    case .xmtp: try XMTPSeal().loaded()
    case .matrix: try MatrixSeal().loaded()
    case .unsealed: NoSeal()
    }
  }
}
