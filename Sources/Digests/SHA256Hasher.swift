import COpenSSL

/// Computes a SHA-256 digest piece by piece with OpenSSL's EVP.
package struct SHA256Hasher: ~Copyable {
  // Looked up once and never freed: OpenSSL looks it up for every digest that is not given one so, which takes longer than to
  // hash a short text. It is not changed by those who use it.
  private nonisolated(unsafe) static let algorithm = EVP_MD_fetch(nil, "SHA256", nil)

  private let context: OpaquePointer?

  package init() {
    context = EVP_MD_CTX_new()
    precondition(
      context != nil && Self.algorithm != nil && EVP_DigestInit_ex2(context, Self.algorithm, nil) == 1,
      "libcrypto has no SHA-256: its installation is damaged")
  }

  deinit { EVP_MD_CTX_free(context) }

  /// Adds `piece` to the end of what is hashed.
  package mutating func update(_ piece: UnsafeRawBufferPointer) {
    // EVP_DigestUpdate fails only on a context that was not set up, which init rules out.
    _ = EVP_DigestUpdate(context, piece.baseAddress, piece.count)
  }

  /// Ends the hash.
  package consuming func finish() -> SHA256Digest {
    var bytes = [UInt8](repeating: 0, count: 32)
    var length: UInt32 = 0
    _ = EVP_DigestFinal_ex(context, &bytes, &length)
    return SHA256Digest(bytes: bytes)
  }
}
