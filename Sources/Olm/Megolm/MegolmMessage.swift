import Digests

/// An encrypted message of a Megolm session: the `ciphertext` of an `m.room.encrypted` event, after base64.
///
/// Source: the specification of Megolm, "Message format". Version 3; the code covers everything in front of it, the
/// signature the code as well.
package struct MegolmMessage: Sendable {
  private static let version: UInt8 = 3
  private static let codeLength = MessageCipher.codeLength

  /// The number of the message in its session.
  package let index: UInt32
  let ciphertext: [UInt8]
  /// Everything in front of the code.
  let body: [UInt8]
  let code: [UInt8]
  let signature: [UInt8]

  /// - Throws: `OlmError.malformed` or `.unknownVersion`. Nothing is verified yet.
  package init(_ bytes: [UInt8]) throws(OlmError) {
    let (body, trailer) = try split(
      bytes, version: Self.version, trailing: Self.codeLength + Ed25519PublicKey.signatureLength)
    let fields = try WireFields(body.dropFirst())
    index = try fields.index(1)
    ciphertext = try fields.bytes(2)
    self.body = body
    code = Array(trailer.prefix(Self.codeLength))
    signature = Array(trailer.dropFirst(Self.codeLength))
  }

  /// Encrypts `plain` as the message at `ratchet`.
  static func encrypt(
    _ plain: [UInt8], with ratchet: MegolmRatchet, signedBy pair: Ed25519KeyPair
  ) throws(OlmError) -> [UInt8] {
    let cipher = ratchet.cipher
    var writer = ProtobufWriter(after: [version])
    writer.write(1, UInt64(ratchet.index))
    writer.write(2, try cipher.encrypt(plain))
    let authenticated = writer.bytes + cipher.code(of: writer.bytes)
    return authenticated + (try pair.sign(authenticated))
  }

  func isSigned(by key: Ed25519PublicKey) -> Bool { key.isSignature(signature, of: body + code) }

  /// The plaintext, after checking the code.
  ///
  /// - Parameter ratchet: at the message's index.
  func decrypt(with ratchet: MegolmRatchet) throws(OlmError) -> [UInt8] {
    let cipher = ratchet.cipher
    guard cipher.isCode(code, of: body) else { throw .badMAC }
    return try cipher.decrypt(ciphertext)
  }
}
