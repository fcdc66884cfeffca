import Digests

/// The cipher of Olm and Megolm messages: AES-256 in CBC mode with PKCS#7 padding, and HMAC-SHA-256 cut to 8 bytes. Both
/// keys and the initialisation vector come from one secret, which must be used for one message only.
///
/// Source: the specification of Olm, section "The Olm message format", and of Megolm, "Message encryption".
struct MessageCipher {
  static let codeLength = 8

  private let key: [UInt8]
  private let vector: [UInt8]
  private let authentication: HMACSHA256

  /// - Parameter info: `OLM_KEYS` or `MEGOLM_KEYS`.
  init(_ secret: [UInt8], info: String) {
    var derived = Derivation.hkdf(secret, info: info, count: 80)
    defer { derived.wipe() }
    key = Array(derived[..<32])
    authentication = HMACSHA256(key: Array(derived[32..<64]))
    vector = Array(derived[64...])
  }

  /// The code of all bytes of a message in front of it.
  func code(of message: [UInt8]) -> [UInt8] { Array(authentication.code(of: message).prefix(Self.codeLength)) }

  /// Compares in constant time.
  func isCode(_ code: some Collection<UInt8>, of message: [UInt8]) -> Bool {
    isEqualInConstantTime(code, self.code(of: message))
  }

  func encrypt(_ plain: [UInt8]) throws(OlmError) -> [UInt8] {
    guard let result = AES256.cbc.run(plain, key: key, vector: vector, encrypting: true) else {
      throw .unavailable("AES-256-CBC")
    }
    return result
  }

  /// Call it only for a message whose code was checked.
  ///
  /// - Throws: `OlmError.malformed` if the padding is not one.
  func decrypt(_ ciphertext: [UInt8]) throws(OlmError) -> [UInt8] {
    guard let result = AES256.cbc.run(ciphertext, key: key, vector: vector, encrypting: false) else { throw .malformed }
    return result
  }
}
