/// The receiving half of a Megolm session: opens each message from its first known one on, in any order and any number of
/// times. To refuse a replay, its user remembers which event used which index.
package struct InboundMegolmSession: Sendable, Codable {
  private let first: MegolmSessionKey
  /// Where the last message was, since most messages come in order.
  private var latest: MegolmRatchet

  package init(_ key: MegolmSessionKey) {
    first = key
    latest = key.ratchet
  }

  /// The `session_id` of its events: the public key in base64.
  package var id: String { first.signingKey.base64 }

  /// The earliest message that it opens.
  package var firstKnownIndex: UInt32 { first.index }

  /// - Throws: `OlmError.unknownIndex` for a message before the first known one; `.badSignature` or `.badMAC` for an
  ///   altered or foreign one. The session stays usable.
  package mutating func decrypt(_ message: MegolmMessage) throws(OlmError) -> [UInt8] {
    // First the signature: whoever has only the session's name must not turn its ratchet.
    guard message.isSigned(by: first.signingKey) else { throw .badSignature }
    var ratchet = message.index >= latest.index ? latest : first.ratchet
    try ratchet.advance(to: message.index)
    let plain = try message.decrypt(with: ratchet)
    latest = ratchet
    return plain
  }

  /// The key that opens messages from `index` on, and nothing before.
  ///
  /// - Throws: `OlmError.unknownIndex` before the first known one.
  package func export(at index: UInt32) throws(OlmError) -> MegolmSessionKey {
    var ratchet = first.ratchet
    try ratchet.advance(to: index)
    return MegolmSessionKey(ratchet: ratchet, signingKey: first.signingKey)
  }

  /// Whether `other` is the same session, perhaps known from another message on: whoever names the session's public
  /// key does not yet have its ratchet.
  package func isSame(as other: MegolmSessionKey) -> Bool {
    guard other.signingKey == first.signingKey else { return false }
    let index = max(first.index, other.index)
    guard let mine = try? export(at: index),
      let theirs = try? InboundMegolmSession(other).export(at: index)
    else { return false }
    return mine.exported.equals(theirs.exported)
  }

  /// - Throws: `DecodingError` for anything but an encoded session.
  package init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    let bytes = try container.decode(SecretBytes.self)
    guard let key = try? MegolmSessionKey(exported: bytes.bytes) else {
      throw DecodingError.dataCorruptedError(in: container, debugDescription: "it is not an exported Megolm session")
    }
    self.init(key)
  }

  /// The exported key at its first known message.
  package func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(first.exported)
  }
}
