/// The sending half of a Megolm session. It cannot be written to disk: a ratchet that a crash or a backup turns back would
/// encrypt two messages under one key.
package struct OutboundMegolmSession: Sendable {
  private var ratchet: MegolmRatchet
  private let signingKey: Ed25519KeyPair

  /// A new session with random keys, at message 0.
  package init() throws(OlmError) {
    ratchet = try MegolmRatchet()
    signingKey = try Ed25519KeyPair()
  }

  /// At a known place, for tests.
  init(ratchet: MegolmRatchet, signingKey: Ed25519KeyPair) {
    self.ratchet = ratchet
    self.signingKey = signingKey
  }

  /// The `session_id` of its events: the public key in base64.
  package var id: String { signingKey.publicKey.base64 }

  /// The number of the next message.
  package var index: UInt32 { ratchet.index }

  /// The `session_key` of an `m.room_key`, before base64: opens the next message and all later ones.
  package func sessionKey() throws(OlmError) -> SecretBytes {
    try MegolmSessionKey(ratchet: ratchet, signingKey: signingKey.publicKey).shared(signedBy: signingKey)
  }

  /// The next message, before base64. Afterwards this session can no longer open it.
  ///
  /// - Throws: `OlmError.exhausted` after 2^32 - 1 messages.
  package mutating func encrypt(_ plain: [UInt8]) throws(OlmError) -> [UInt8] {
    var next = ratchet
    try next.advance()
    let message = try MegolmMessage.encrypt(plain, with: ratchet, signedBy: signingKey)
    ratchet = next
    return message
  }
}
