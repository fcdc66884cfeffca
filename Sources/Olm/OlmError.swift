/// Why a key, a message or a session of Olm or Megolm cannot be used.
package enum OlmError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The bytes are no message or key of their kind.
  case malformed
  case unknownVersion(UInt8)
  /// Altered, or encrypted in another session.
  case badMAC
  /// Not signed by the key that it names.
  case badSignature
  /// A public key from which nothing secret can be agreed.
  case weakKey
  /// The session begins at a later message.
  case unknownIndex(first: UInt32)
  /// The key of this message is used, or was dropped for newer ones.
  case usedKey
  /// It skips more messages than one chain may.
  case tooFarAhead
  /// It answers a ratchet key that this session never sent.
  case unknownRatchet
  /// A message that opens a session came for another one.
  case otherSession
  /// The session has no further message; a new one is needed.
  case exhausted
  /// OpenSSL on this machine lacks something.
  case unavailable(String)

  package var description: String {
    switch self {
    case .malformed: "the bytes are not a message or key of this kind"
    case .unknownVersion(let version): "the message or key has version \(version), which is not supported"
    case .badMAC: "the message was altered or belongs to another session: its authentication code differs"
    case .badSignature: "the message or key was not signed by the key that it names"
    case .weakKey: "the public key of the other side is not usable"
    case .unknownIndex(let first): "the session's key opens messages from number \(first) on, and this one is earlier"
    case .usedKey: "the message's key was used or dropped before"
    case .tooFarAhead: "the message skips more messages than a session may"
    case .unknownRatchet: "the message answers a ratchet key that was never sent"
    case .otherSession: "the message opens another session"
    case .exhausted: "the session has no further message; a new session is needed"
    case .unavailable(let what): "OpenSSL has no \(what); check its installation"
    }
  }
}
