import Digests

/// A message of an established Olm session: type 1 in Matrix.
///
/// Source: the specification of Olm, "Normal messages". Version 3; the code covers everything in front of it.
package struct OlmMessage: Sendable {
  static let version: UInt8 = 3

  let ratchetKey: Curve25519PublicKey
  let index: UInt32
  private let ciphertext: [UInt8]
  private let body: [UInt8]
  private let code: [UInt8]

  /// - Throws: `OlmError.malformed` or `.unknownVersion`. Nothing is verified yet.
  package init(_ bytes: [UInt8]) throws(OlmError) {
    (body, code) = try split(bytes, version: Self.version, trailing: MessageCipher.codeLength)
    let fields = try WireFields(body.dropFirst())
    ratchetKey = try fields.key(1)
    index = try fields.index(2)
    ciphertext = try fields.bytes(4)
  }

  static func encrypt(
    _ plain: [UInt8], with secret: SecretBytes, ratchetKey: Curve25519PublicKey, index: UInt32
  ) throws(OlmError) -> [UInt8] {
    let cipher = MessageCipher(secret.bytes, info: "OLM_KEYS")
    var writer = ProtobufWriter(after: [version])
    writer.write(1, ratchetKey.bytes)
    writer.write(2, UInt64(index))
    writer.write(4, try cipher.encrypt(plain))
    return writer.bytes + cipher.code(of: writer.bytes)
  }

  /// The plaintext, after checking the code.
  func decrypt(with secret: SecretBytes) throws(OlmError) -> [UInt8] {
    let cipher = MessageCipher(secret.bytes, info: "OLM_KEYS")
    guard cipher.isCode(code, of: body) else { throw .badMAC }
    return try cipher.decrypt(ciphertext)
  }
}

/// A message that opens an Olm session: type 0 in Matrix. It repeats the session's public keys until an answer has come.
///
/// Source: the specification of Olm, "Pre-key messages". Version 3, no code of its own.
package struct OlmPreKeyMessage: Sendable {
  /// Names the session.
  package let keys: OlmSessionKeys
  package let message: OlmMessage

  /// - Throws: `OlmError.malformed` or `.unknownVersion`. Nothing is verified yet.
  package init(_ bytes: [UInt8]) throws(OlmError) {
    let fields = try WireFields(split(bytes, version: OlmMessage.version, trailing: 0).body.dropFirst())
    keys = OlmSessionKeys(
      identityKey: try fields.key(3), baseKey: try fields.key(2), oneTimeKey: try fields.key(1))
    message = try OlmMessage(fields.bytes(4))
  }

  static func encode(_ message: [UInt8], _ keys: OlmSessionKeys) -> [UInt8] {
    var writer = ProtobufWriter(after: [OlmMessage.version])
    writer.write(1, keys.oneTimeKey.bytes)
    writer.write(2, keys.baseKey.bytes)
    writer.write(3, keys.identityKey.bytes)
    writer.write(4, message)
    return writer.bytes
  }
}
