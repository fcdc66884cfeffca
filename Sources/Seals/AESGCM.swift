import COpenSSL
import Messages

/// AES-256-GCM (NIST SP 800-38D) with a 32-byte key, a 12-byte nonce, no associated data and the 16-byte tag after the
/// ciphertext, with OpenSSL's EVP.
enum AESGCM {
  private static let tagLength = 16

  static func seal(_ plain: [UInt8], key: [UInt8], nonce: [UInt8]) throws(DeliveryError) -> [UInt8] {
    // Receivers and OpenSSL use 31-bit lengths.
    guard let length = Int32(exactly: plain.count), length <= Int32.max - Int32(tagLength) else {
      throw DeliveryError(.tooLargeAfterCompress, "the photo has \(plain.count) bytes, too many to be sealed")
    }
    var object = [UInt8](repeating: 0, count: plain.count + tagLength)
    var (written, rest): (Int32, Int32) = (0, 0)
    let isDone = withContext { context in
      EVP_EncryptInit_ex2(context, EVP_aes_256_gcm(), key, nonce, nil) == 1
        && EVP_EncryptUpdate(context, &object, &written, plain, length) == 1
        && object.withUnsafeMutableBufferPointer { buffer in
          guard let start = buffer.baseAddress else { return false }
          return EVP_EncryptFinal_ex(context, start + Int(written), &rest) == 1
            && EVP_CIPHER_CTX_ctrl(
              context, EVP_CTRL_AEAD_GET_TAG, Int32(tagLength), start + buffer.count - tagLength) == 1
        }
    }
    guard isDone, written + rest == length else {
      throw DeliveryError(.configError, "OpenSSL cannot encrypt with AES-256-GCM; check its installation")
    }
    return object
  }

  /// Decrypts and returns nothing before the tag is verified.
  static func open(_ object: [UInt8], key: [UInt8], nonce: [UInt8]) throws(SealError) -> [UInt8] {
    guard object.count >= tagLength, let length = Int32(exactly: object.count - tagLength) else {
      throw .decryptionFailed
    }
    var plain = [UInt8](repeating: 0, count: Int(length) + 1)
    var tag = Array(object.suffix(tagLength))
    var (written, rest): (Int32, Int32) = (0, 0)
    let isDone = withContext { context in
      EVP_DecryptInit_ex2(context, EVP_aes_256_gcm(), key, nonce, nil) == 1
        && EVP_DecryptUpdate(context, &plain, &written, object, length) == 1
        && EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_SET_TAG, Int32(tagLength), &tag) == 1
        && plain.withUnsafeMutableBufferPointer { buffer in
          guard let start = buffer.baseAddress else { return false }
          return EVP_DecryptFinal_ex(context, start + Int(written), &rest) == 1
        }
    }
    guard isDone, written + rest == length else { throw .decryptionFailed }
    plain.removeLast()
    return plain
  }

  private static func withContext(_ body: (OpaquePointer) -> Bool) -> Bool {
    guard let context = EVP_CIPHER_CTX_new() else { return false }
    // Freeing wipes the key schedule. TLS must not find errors in the thread's error queue.
    defer {
      EVP_CIPHER_CTX_free(context)
      ERR_clear_error()
    }
    return body(context)
  }
}
