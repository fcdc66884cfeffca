import Digests

/// An Olm session between two devices: a triple Diffie-Hellman agreement, then the double ratchet.
///
/// Source: the specification of Olm. The order of the three agreements is that of the opener's identity key with the
/// one-time key, its base key with the identity key, and its base key with the one-time key.
///
/// Every call either succeeds or leaves the session as it was. Keys of opened messages are gone, so an opened message
/// cannot be opened again. A session that opened a message must be durable before that message is confirmed to its
/// sender. One that encrypted a message must be durable before that message is sent: the answer may need its ratchet key.
///
/// `Codable` leaves out the chain that encrypts. So a stored session opens answers, and encrypts again after an answer
/// that brings a new ratchet key. One that is put back to an earlier state uses no key twice, and cannot open what it
/// sent.
package struct OlmSession: Sendable, Codable {
  /// The largest number of chains of the other side that are kept for late messages.
  static let mostReceivingChains = 5

  /// A message with its type in Matrix.
  package enum Encrypted: Sendable {
    /// Type 0.
    case preKey([UInt8])
    /// Type 1.
    case normal([UInt8])
  }

  /// Whose ratchet key is the newest.
  private enum Turn: Codable {
    case ours(ratchet: Curve25519KeyPair)
    case theirs(ratchet: Curve25519PublicKey)
  }

  package let keys: OlmSessionKeys
  private var root: SecretBytes
  private var turn: Turn
  /// Newest last.
  private var receiving: [OlmReceivingChain] = []
  /// Whether the other side has to be told the session's keys.
  private var isUnanswered: Bool
  /// The chain of our ratchet key; nil after reading the session, and in the other side's turn.
  private var sending: OlmChain?

  private enum CodingKeys: CodingKey { case keys, root, turn, receiving, isUnanswered }

  package var id: String { keys.sessionID }
}

extension OlmSession {
  /// Opens a session with a device.
  ///
  /// - Parameter oneTimeKey: claimed for this session, its signature checked.
  /// - Throws: `OlmError.weakKey` if one of the two keys is none.
  package init(
    from identity: Curve25519KeyPair, to theirIdentityKey: Curve25519PublicKey, oneTimeKey: Curve25519PublicKey
  ) throws(OlmError) {
    let (base, ratchet) = (try Curve25519KeyPair(), try Curve25519KeyPair())
    var secret = try identity.agree(with: oneTimeKey)
    secret += try base.agree(with: theirIdentityKey)
    secret += try base.agree(with: oneTimeKey)
    defer { secret.wipe() }
    let (root, chain) = Self.derive(secret, info: "OLM_ROOT")
    self.init(
      keys: OlmSessionKeys(identityKey: identity.publicKey, baseKey: base.publicKey, oneTimeKey: oneTimeKey),
      root: root, turn: .ours(ratchet: ratchet), isUnanswered: true, sending: chain)
  }

  /// Accepts a session that another device opened.
  ///
  /// - Parameters:
  ///   - first: any message that opens it.
  ///   - oneTimeKey: the pair that the message names. A one-time key must be deleted together with storing the session.
  /// - Returns: the session and the message's plaintext.
  /// - Throws: `OlmError.otherSession` if the message names another key, `.badMAC` if it was not written for us.
  package static func accept(
    _ first: OlmPreKeyMessage, as identity: Curve25519KeyPair, oneTimeKey: Curve25519KeyPair
  ) throws(OlmError) -> (session: OlmSession, plain: [UInt8]) {
    guard first.keys.oneTimeKey == oneTimeKey.publicKey else { throw .otherSession }
    var secret = try oneTimeKey.agree(with: first.keys.identityKey)
    secret += try identity.agree(with: first.keys.baseKey)
    secret += try oneTimeKey.agree(with: first.keys.baseKey)
    defer { secret.wipe() }
    let (root, chain) = derive(secret, info: "OLM_ROOT")
    let ratchetKey = first.message.ratchetKey
    var session = OlmSession(
      keys: first.keys, root: root, turn: .theirs(ratchet: ratchetKey),
      receiving: [OlmReceivingChain(chain, ratchetKey: ratchetKey)], isUnanswered: false)
    let plain = try session.decrypt(first.message)
    return (session, plain)
  }

  /// Whether `encrypt` works: not in a session that was read and has got no new ratchet key since.
  package var canEncrypt: Bool {
    if case .theirs = turn { return true }
    return sending != nil
  }

  /// Goes on with the chain of the same session in memory, unless that one has another ratchet key.
  package mutating func resume(_ live: OlmSession) {
    guard case .ours(let ratchet) = turn, case .ours(let other) = live.turn, ratchet.publicKey == other.publicKey else {
      return
    }
    sending = live.sending
  }

  /// The next message.
  ///
  /// - Throws: `OlmError.exhausted` unless `canEncrypt`.
  package mutating func encrypt(_ plain: [UInt8]) throws(OlmError) -> Encrypted {
    var next = self
    var (chain, ratchet) = try next.sendingChain()
    let index = chain.index
    let message = try OlmMessage.encrypt(plain, with: chain.next(), ratchetKey: ratchet.publicKey, index: index)
    next.turn = .ours(ratchet: ratchet)
    next.sending = chain
    self = next
    return isUnanswered ? .preKey(OlmPreKeyMessage.encode(message, keys)) : .normal(message)
  }

  /// Opens a message of this session.
  ///
  /// - Throws: `OlmError.badMAC` for an altered or foreign one, `.usedKey` for a repeated one, `.tooFarAhead` and
  ///   `.unknownRatchet`.
  package mutating func decrypt(_ message: OlmMessage) throws(OlmError) -> [UInt8] {
    if let place = receiving.firstIndex(where: { $0.ratchetKey == message.ratchetKey }) {
      let plain = try receiving[place].decrypt(message)
      isUnanswered = false
      return plain
    }
    // The other side may go on to a new ratchet key only after one of ours.
    guard case .ours(let ratchet) = turn else { throw .unknownRatchet }
    let (root, chain) = try Self.turn(self.root, ratchet, message.ratchetKey)
    var received = OlmReceivingChain(chain, ratchetKey: message.ratchetKey)
    let plain = try received.decrypt(message)
    self.root = root
    turn = .theirs(ratchet: message.ratchetKey)
    sending = nil
    receiving.append(received)
    if receiving.count > Self.mostReceivingChains { receiving.removeFirst() }
    isUnanswered = false
    return plain
  }

  private mutating func sendingChain() throws(OlmError) -> (OlmChain, Curve25519KeyPair) {
    switch turn {
    case .ours(let ratchet):
      guard let sending else { throw .exhausted }
      return (sending, ratchet)
    case .theirs(let theirs):
      let ratchet = try Curve25519KeyPair()
      let (root, chain) = try Self.turn(self.root, ratchet, theirs)
      self.root = root
      return (chain, ratchet)
    }
  }

  /// Source: the specification of Olm, "Advancing the root key".
  private static func turn(
    _ root: SecretBytes, _ ours: Curve25519KeyPair, _ theirs: Curve25519PublicKey
  ) throws(OlmError) -> (SecretBytes, OlmChain) {
    var secret = try ours.agree(with: theirs)
    defer { secret.wipe() }
    return derive(secret, salt: root.bytes, info: "OLM_RATCHET")
  }

  private static func derive(
    _ secret: [UInt8], salt: [UInt8] = [UInt8](repeating: 0, count: 32), info: String
  ) -> (root: SecretBytes, chain: OlmChain) {
    var derived = Derivation.hkdf(secret, salt: salt, info: info, count: 64)
    defer { derived.wipe() }
    return (SecretBytes(Array(derived[..<32])), OlmChain(derived[32...]))
  }
}
