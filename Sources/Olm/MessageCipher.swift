import COpenSSL
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
    guard let result = apply(plain, encrypting: true) else { throw .unavailable("AES-256-CBC") }
    return result
  }

  /// Call it only for a message whose code was checked.
  ///
  /// - Throws: `OlmError.malformed` if the padding is not one.
  func decrypt(_ ciphertext: [UInt8]) throws(OlmError) -> [UInt8] {
    guard let result = apply(ciphertext, encrypting: false) else { throw .malformed }
    return result
  }

  private func apply(_ input: [UInt8], encrypting: Bool) -> [UInt8]? {
    guard let length = Int32(exactly: input.count), length < Int32.max - 16, let context = EVP_CIPHER_CTX_new() else {
      return nil
    }
    // Freeing wipes the key schedule. TLS must not find errors in the thread's error queue.
    defer {
      EVP_CIPHER_CTX_free(context)
      ERR_clear_error()
    }
    var output = [UInt8](repeating: 0, count: input.count + 16)
    var (written, rest): (Int32, Int32) = (0, 0)
    guard EVP_CipherInit_ex2(context, EVP_aes_256_cbc(), key, vector, encrypting ? 1 : 0, nil) == 1,
      EVP_CipherUpdate(context, &output, &written, input, length) == 1,
      output.withUnsafeMutableBufferPointer({ buffer in
        buffer.baseAddress.map { EVP_CipherFinal_ex(context, $0 + Int(written), &rest) == 1 } ?? false
      })
    else { return nil }
    output.removeLast(output.count - Int(written + rest))
    return output
  }
}
