import COpenSSL
import Messages

/// AES-256 in counter mode (NIST SP 800-38A) with a 32-byte key and a 16-byte counter block, with OpenSSL's EVP.
/// Encryption and decryption are the same.
package enum AESCTR {
  package static func apply(_ bytes: [UInt8], key: [UInt8], counter: [UInt8]) throws(DeliveryError) -> [UInt8] {
    guard let length = Int32(exactly: bytes.count) else {
      throw DeliveryError(.tooLargeAfterCompress, "the photo has \(bytes.count) bytes, too many to be sealed")
    }
    // One byte more, because an empty array may have no address.
    var result = [UInt8](repeating: 0, count: bytes.count + 1)
    var written: Int32 = 0
    let context = EVP_CIPHER_CTX_new()
    defer {
      EVP_CIPHER_CTX_free(context)
      ERR_clear_error()
    }
    guard context != nil, EVP_EncryptInit_ex2(context, EVP_aes_256_ctr(), key, counter, nil) == 1,
      EVP_EncryptUpdate(context, &result, &written, bytes, length) == 1, written == length
    else { throw DeliveryError(.configError, "OpenSSL cannot encrypt with AES-256-CTR; check its installation") }
    result.removeLast()
    return result
  }
}
