import COpenSSL

/// Computes a SHA-256 digest incrementally with OpenSSL's EVP.
package struct SHA256Hasher: ~Copyable {
  // Fetched once and never freed. OpenSSL would fetch it for each digest, which costs more than hashing a short text.
  // Its users do not change it.
  private nonisolated(unsafe) static let algorithm = EVP_MD_fetch(nil, "SHA256", nil)

  private let context: OpaquePointer?

  package init() {
    context = EVP_MD_CTX_new()
    precondition(
      context != nil && Self.algorithm != nil && EVP_DigestInit_ex2(context, Self.algorithm, nil) == 1,
      "libcrypto has no SHA-256: its installation is damaged")
  }

  deinit { EVP_MD_CTX_free(context) }

  package mutating func update(_ piece: UnsafeRawBufferPointer) {
    // EVP_DigestUpdate fails only without a context, which init rules out.
    _ = EVP_DigestUpdate(context, piece.baseAddress, piece.count)
  }

  package consuming func finish() -> SHA256Digest {
    var bytes = [UInt8](repeating: 0, count: 32)
    var length: UInt32 = 0
    _ = EVP_DigestFinal_ex(context, &bytes, &length)
    return SHA256Digest(bytes: bytes)
  }
}
