import Digests

/// One chain of message keys. Source: the specification of Olm, "Advancing the chain key".
struct OlmChain: Sendable, Codable {
  private var key: SecretBytes
  /// The number of the next message.
  private(set) var index: UInt32 = 0

  init(_ key: ArraySlice<UInt8>) { self.key = SecretBytes(Array(key)) }

  /// The secret for the next message; it is gone from the chain afterwards.
  ///
  /// - Throws: `OlmError.exhausted` after message 2^32 - 1.
  mutating func next() throws(OlmError) -> SecretBytes {
    guard index < .max else { throw .exhausted }
    let keyed = HMACSHA256(key: key.bytes)
    key = SecretBytes(keyed.code(of: [2]))
    index += 1
    return SecretBytes(keyed.code(of: [1]))
  }
}

/// A chain of the other side, with the keys of messages that were overtaken.
struct OlmReceivingChain: Sendable, Codable {
  /// The largest number of messages that one message may skip.
  static let longestGap: UInt32 = 2000
  /// The largest number of keys that are kept for overtaken messages.
  static let mostSkippedKeys = 40

  private struct Skipped: Codable {
    let index: UInt32
    let key: SecretBytes
  }

  let ratchetKey: Curve25519PublicKey
  private var chain: OlmChain
  private var skipped: [Skipped] = []

  init(_ chain: OlmChain, ratchetKey: Curve25519PublicKey) {
    self.chain = chain
    self.ratchetKey = ratchetKey
  }

  /// Opens a message and forgets its key. After an error the chain is as before.
  mutating func decrypt(_ message: OlmMessage) throws(OlmError) -> [UInt8] {
    var next = self
    let plain = try message.decrypt(with: next.takeKey(message.index))
    self = next
    return plain
  }

  private mutating func takeKey(_ index: UInt32) throws(OlmError) -> SecretBytes {
    if index < chain.index {
      guard let place = skipped.firstIndex(where: { $0.index == index }) else { throw .usedKey }
      return skipped.remove(at: place).key
    }
    guard index - chain.index <= Self.longestGap else { throw .tooFarAhead }
    while chain.index < index { skipped.append(Skipped(index: chain.index, key: try chain.next())) }
    if skipped.count > Self.mostSkippedKeys { skipped.removeFirst(skipped.count - Self.mostSkippedKeys) }
    return try chain.next()
  }
}
