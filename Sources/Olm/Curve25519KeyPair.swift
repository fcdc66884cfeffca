import COpenSSL

/// An X25519 key pair (RFC 7748), with OpenSSL's EVP. `Codable` writes the private half.
package struct Curve25519KeyPair: Sendable, Codable {
  package let publicKey: Curve25519PublicKey
  /// The private half: 32 bytes.
  package let privateKey: SecretBytes

  /// A new pair.
  package init() throws(OlmError) { try self.init(privateKey: .random(32)) }

  /// - Throws: `OlmError.malformed` unless there are 32 bytes.
  package init(privateKey: SecretBytes) throws(OlmError) {
    let key = try RawKey(private: privateKey, EVP_PKEY_X25519)
    guard let publicKey = Curve25519PublicKey(bytes: try key.publicBytes()) else {
      throw .unavailable("X25519")
    }
    self.publicKey = publicKey
    self.privateKey = privateKey
  }

  package init(from decoder: any Decoder) throws { try self.init(privateKey: SecretBytes(from: decoder)) }

  package func encode(to encoder: any Encoder) throws { try privateKey.encode(to: encoder) }

  /// The 32 bytes on which both sides agree.
  ///
  /// - Throws: `OlmError.weakKey` for one of the few public keys that make the result zero.
  func agree(with other: Curve25519PublicKey) throws(OlmError) -> [UInt8] {
    let mine = try RawKey(private: privateKey, EVP_PKEY_X25519)
    let theirs = try RawKey(public: other.bytes, EVP_PKEY_X25519)
    let context = EVP_PKEY_CTX_new(mine.key, nil)
    defer {
      EVP_PKEY_CTX_free(context)
      ERR_clear_error()
    }
    var secret = [UInt8](repeating: 0, count: 32)
    var length = secret.count
    guard context != nil, EVP_PKEY_derive_init(context) == 1 else { throw .unavailable("X25519") }
    // OpenSSL refuses a result of zeros.
    guard EVP_PKEY_derive_set_peer(context, theirs.key) == 1, EVP_PKEY_derive(context, &secret, &length) == 1,
      length == 32, secret.contains(where: { $0 != 0 })
    else { throw .weakKey }
    return secret
  }
}
