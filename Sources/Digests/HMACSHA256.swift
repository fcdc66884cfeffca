import COpenSSL

/// HMAC with SHA-256 (RFC 2104), through OpenSSL's EVP.
public enum HMACSHA256 {
  /// The 32 bytes of code of `message` under `key`.
  public static func code(of message: [UInt8], key: [UInt8]) -> [UInt8] {
    var code = [UInt8](repeating: 0, count: 32)
    var length = 0
    let result = EVP_Q_mac(nil, "HMAC", nil, "SHA256", nil, key, key.count, message, message.count, &code, 32, &length)
    precondition(result != nil && length == 32, "libcrypto has no HMAC: its installation is damaged")
    return code
  }
}
