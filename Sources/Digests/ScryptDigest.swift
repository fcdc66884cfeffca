import COpenSSL

/// The scrypt digest (RFC 7914) of a password with its salt. Guessing one takes 16 MiB and some 200 ms.
package struct ScryptDigest: Codable, Sendable, Equatable {
  private let salt: String
  private let digest: String

  private static let (cost, blockSize, parallel) = (UInt64(1) << 14, UInt64(8), UInt64(5))
  private static let memory = UInt64(64 << 20)

  /// With a new salt.
  package init(of password: String) {
    let salt = (0..<16).map { _ in UInt8.random(in: 0 ... .max) }
    self.salt = salt.hex
    digest = Self.digest(password, salt).hex
  }

  /// Compares in constant time.
  package func matches(_ password: String) -> Bool {
    guard let salt = [UInt8](hex: salt), let digest = [UInt8](hex: digest) else { return false }
    let other = Self.digest(password, salt)
    return digest.count == other.count && CRYPTO_memcmp(digest, other, other.count) == 0
  }

  private static func digest(_ password: String, _ salt: [UInt8]) -> [UInt8] {
    var key = [UInt8](repeating: 0, count: 32)
    let password = Array(password.utf8).map(CChar.init(bitPattern:))
    let isDone = EVP_PBE_scrypt(
      password, password.count, salt, salt.count, cost, blockSize, parallel, memory, &key, key.count)
    precondition(isDone == 1, "libcrypto has no scrypt, or there is no memory for it")
    return key
  }
}
