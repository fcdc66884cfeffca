/// Why a sealed photo cannot be opened.
package enum SealError: Error, Equatable, CustomStringConvertible {
  case badKeyMaterial
  case digestMismatch
  case decryptionFailed
  case notAnAttachment
  case compressed
  /// It would exceed the size limit of attachments.
  case tooLarge
  /// This program or its libraries cannot open it; says why.
  case unavailable(String)

  package var description: String {
    switch self {
    case .badKeyMaterial: "the secret, salt or nonce does not have its length"
    case .digestMismatch: "the object is not the one that was announced: its SHA-256 differs"
    case .decryptionFailed: "the object cannot be decrypted with the announced keys"
    case .notAnAttachment: "the decrypted content is not an attachment"
    case .compressed: "the content is compressed in a way that cannot be read"
    case .tooLarge: "the content is larger than an attachment may be"
    case .unavailable(let sentence): sentence
    }
  }
}
