/// Opens a Megolm session from one message on: the ratchet at that message and the key that signs the messages.
///
/// Source: the specification of Megolm, "Session sharing format" and "Session export format".
package struct MegolmSessionKey: Sendable {
  private static let sharedVersion: UInt8 = 2
  private static let exportedVersion: UInt8 = 1
  /// Version, index, ratchet and public key.
  private static let bodyLength = 1 + 4 + MegolmRatchet.length + 32

  let ratchet: MegolmRatchet
  package let signingKey: Ed25519PublicKey

  init(ratchet: MegolmRatchet, signingKey: Ed25519PublicKey) {
    self.ratchet = ratchet
    self.signingKey = signingKey
  }

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

  private func body(version: UInt8) -> [UInt8] {
    [version] + bigEndian(index) + ratchet.bytes + signingKey.bytes
  }

  private func bigEndian(_ number: UInt32) -> [UInt8] {
    stride(from: 24, through: 0, by: -8).map { UInt8(truncatingIfNeeded: number >> UInt32($0)) }
  }
}
