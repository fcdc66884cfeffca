/// Opens a Megolm session from one message on: the ratchet at that message and the key that signs the messages.
///
/// It opens messages in any order and any number of times. To refuse a replay, its user remembers which event used which
/// index.
///
/// Source: the specification of Megolm, "Session sharing format" and "Session export format".
package struct MegolmSessionKey: Sendable {
  private static let sharedVersion: UInt8 = 2
  private static let exportedVersion: UInt8 = 1
  /// Version, index, ratchet and public key.
  private static let bodyLength = 1 + 4 + MegolmRatchet.length + 32

  let ratchet: MegolmRatchet
  package let signingKey: Ed25519PublicKey
}

extension MegolmSessionKey {
  /// Reads the `session_key` of an `m.room_key`: version 2, signed.
  ///
  /// - Throws: `OlmError.malformed`, `.unknownVersion` or `.badSignature`.
  package init(shared bytes: [UInt8]) throws(OlmError) {
    let (body, signature) = try split(bytes, version: Self.sharedVersion, trailing: Ed25519PublicKey.signatureLength)
    try self.init(body: body)
    guard signingKey.isSignature(signature, of: body) else { throw .badSignature }
  }

  /// Reads an exported key, as key backups and our own files have it: version 1, unsigned.
  ///
  /// - Throws: `OlmError.malformed` or `.unknownVersion`.
  package init(exported bytes: [UInt8]) throws(OlmError) {
    try self.init(body: split(bytes, version: Self.exportedVersion, trailing: 0).body)
  }

  private init(body: [UInt8]) throws(OlmError) {
    guard body.count == Self.bodyLength, let signingKey = Ed25519PublicKey(bytes: body.suffix(32)) else {
      throw .malformed
    }
    let index = body[1..<5].reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
    self.init(ratchet: MegolmRatchet(body[5...].prefix(MegolmRatchet.length), at: index), signingKey: signingKey)
  }

  /// The first message that it opens.
  package var index: UInt32 { ratchet.index }

  /// Version 1: 165 bytes, secret.
  package var exported: SecretBytes { SecretBytes(body(version: Self.exportedVersion)) }

  /// Version 2: 229 bytes, secret, for `m.room_key`.
  func shared(signedBy pair: Ed25519KeyPair) throws(OlmError) -> SecretBytes {
    let body = body(version: Self.sharedVersion)
    return SecretBytes(body + (try pair.sign(body)))
  }

  /// - Throws: `OlmError.unknownIndex` for a message before the first known one; `.badSignature` or `.badMAC` for an
  ///   altered or foreign one.
  package func decrypt(_ message: MegolmMessage) throws(OlmError) -> [UInt8] {
    // First the signature: whoever has only the session's name must not turn its ratchet.
    guard message.isSigned(by: signingKey) else { throw .badSignature }
    return try message.decrypt(with: export(at: message.index).ratchet)
  }

  /// The key that opens messages from `index` on, and nothing before.
  ///
  /// - Throws: `OlmError.unknownIndex` before the first known one.
  func export(at index: UInt32) throws(OlmError) -> MegolmSessionKey {
    var ratchet = ratchet
    try ratchet.advance(to: index)
    return MegolmSessionKey(ratchet: ratchet, signingKey: signingKey)
  }

  /// Whether `other` is the same session, perhaps known from another message on: whoever names the session's public
  /// key does not yet have its ratchet.
  package func isSame(as other: MegolmSessionKey) -> Bool {
    let later = max(index, other.index)
    guard other.signingKey == signingKey, let mine = try? export(at: later), let theirs = try? other.export(at: later)
    else { return false }
    return mine.exported.equals(theirs.exported)
  }

  private func body(version: UInt8) -> [UInt8] {
    let number = withUnsafeBytes(of: index.bigEndian) { Array($0) }
    return [version] + number + ratchet.bytes + signingKey.bytes
  }
}
