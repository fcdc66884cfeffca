import COpenSSL

/// OpenSSL's form of a raw key; freeing it wipes its private half.
struct RawKey: ~Copyable {
  let key: OpaquePointer

  /// - Throws: `OlmError.malformed` unless there are 32 bytes.
  init(private secret: SecretBytes, _ kind: Int32) throws(OlmError) {
    guard secret.bytes.count == 32 else { throw .malformed }
    try self.init(EVP_PKEY_new_raw_private_key(kind, nil, secret.bytes, 32))
  }

  init(public bytes: [UInt8], _ kind: Int32) throws(OlmError) {
    guard bytes.count == 32 else { throw .malformed }
    try self.init(EVP_PKEY_new_raw_public_key(kind, nil, bytes, 32))
  }

  private init(_ key: OpaquePointer?) throws(OlmError) {
    guard let key else {
      ERR_clear_error()
      throw .unavailable("curves of RFC 7748 and RFC 8032")
    }
    self.key = key
  }

  deinit { EVP_PKEY_free(key) }

  func publicBytes() throws(OlmError) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: 32)
    var length = bytes.count
    guard EVP_PKEY_get_raw_public_key(key, &bytes, &length) == 1, length == 32 else {
      ERR_clear_error()
      throw .unavailable("curves of RFC 7748 and RFC 8032")
    }
    return bytes
  }
}
