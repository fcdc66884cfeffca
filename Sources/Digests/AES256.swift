import COpenSSL

/// AES with a key of 32 bytes (FIPS 197), with OpenSSL's EVP; CBC and CTR are of NIST SP 800-38A, GCM of SP 800-38D.
package enum AES256 {
  /// With PKCS#7 padding.
  case cbc
  case ctr
  /// Without associated data, and with the 16-byte tag after the ciphertext.
  case gcm

  /// The largest input. Receivers and OpenSSL use 31-bit lengths.
  package static let limit = Int(Int32.max) - 16

  /// nil for a wrong padding or tag, an input beyond the limit, and if OpenSSL lacks the cipher.
  ///
  /// - Parameter vector: the initialisation vector or counter block of 16 bytes; for GCM a nonce of 12.
  package func run(_ input: [UInt8], key: [UInt8], vector: [UInt8], encrypting: Bool) -> [UInt8]? {
    let (givesTag, takesTag) = (self == .gcm && encrypting, self == .gcm && !encrypting)
    let count = takesTag ? input.count - 16 : input.count
    guard 0...Self.limit ~= count, let context = EVP_CIPHER_CTX_new() else { return nil }
    // Freeing wipes the key schedule. TLS must not find errors in the thread's error queue.
    defer {
      EVP_CIPHER_CTX_free(context)
      ERR_clear_error()
    }
    // Room for padding or a tag.
    var output = [UInt8](repeating: 0, count: count + 16)
    var tag = takesTag ? Array(input.suffix(16)) : [UInt8](repeating: 0, count: 16)
    var (written, rest): (Int32, Int32) = (0, 0)
    guard EVP_CipherInit_ex2(context, algorithm, key, vector, encrypting ? 1 : 0, nil) == 1,
      EVP_CipherUpdate(context, &output, &written, input, Int32(count)) == 1,
      !takesTag || EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_SET_TAG, 16, &tag) == 1,
      output.withUnsafeMutableBufferPointer({ buffer in
        buffer.baseAddress.map { EVP_CipherFinal_ex(context, $0 + Int(written), &rest) == 1 } ?? false
      }),
      !givesTag || EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_GET_TAG, 16, &tag) == 1
    else { return nil }
    output.removeLast(output.count - Int(written + rest))
    if givesTag { output += tag }
    return output
  }

  private var algorithm: OpaquePointer? {
    switch self {
    case .cbc: EVP_aes_256_cbc()
    case .ctr: EVP_aes_256_ctr()
    case .gcm: EVP_aes_256_gcm()
    }
  }
}
