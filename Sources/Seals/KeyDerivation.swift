import COpenSSL
import Messages

/// HKDF with SHA-256 (RFC 5869), with OpenSSL's EVP.
enum KeyDerivation {
  /// The 32-byte key from `secret`, `salt` and `info`.
  static func hkdf(secret: [UInt8], salt: [UInt8], info: [UInt8] = []) throws(DeliveryError) -> [UInt8] {
    var key = [UInt8](repeating: 0, count: 32)
    var length = key.count
    let context = EVP_PKEY_CTX_new_id(EVP_PKEY_HKDF, nil)
    defer {
      EVP_PKEY_CTX_free(context)
      ERR_clear_error()
    }
    guard context != nil, EVP_PKEY_derive_init(context) == 1,
      EVP_PKEY_CTX_set_hkdf_md(context, EVP_sha256()) == 1,
      EVP_PKEY_CTX_set1_hkdf_salt(context, salt, Int32(salt.count)) == 1,
      EVP_PKEY_CTX_set1_hkdf_key(context, secret, Int32(secret.count)) == 1,
      info.isEmpty || EVP_PKEY_CTX_add1_hkdf_info(context, info, Int32(info.count)) == 1,
      EVP_PKEY_derive(context, &key, &length) == 1, length == key.count
    else { throw DeliveryError(.configError, "OpenSSL has no HKDF-SHA256; check its installation") }
    return key
  }
}

extension [UInt8] {
  /// Overwrites the bytes, which no optimiser may omit. Other copies remain.
  mutating func wipe() {
    withUnsafeMutableBytes { OPENSSL_cleanse($0.baseAddress, $0.count) }
  }
}
