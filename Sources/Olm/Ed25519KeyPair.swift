import COpenSSL

/// An Ed25519 key pair (RFC 8032), with OpenSSL's EVP. `Codable` writes the seed.
package struct Ed25519KeyPair: Sendable, Codable {
  package let publicKey: Ed25519PublicKey
  /// The 32 bytes from which the pair is derived. Matrix keeps cross-signing keys as such seeds.
  package let seed: SecretBytes

  /// A new pair.
  package init() throws(OlmError) { try self.init(seed: .random(32)) }

  /// - Throws: `OlmError.malformed` unless there are 32 bytes.
  package init(seed: SecretBytes) throws(OlmError) {
    let key = try RawKey(private: seed, EVP_PKEY_ED25519)
    guard let publicKey = Ed25519PublicKey(bytes: try key.publicBytes()) else { throw .unavailable("Ed25519") }
    self.publicKey = publicKey
    self.seed = seed
  }

  package init(from decoder: any Decoder) throws { try self.init(seed: SecretBytes(from: decoder)) }

  package func encode(to encoder: any Encoder) throws { try seed.encode(to: encoder) }

  /// The signature of `message`: 64 bytes, always the same for the same message.
  package func sign(_ message: [UInt8]) throws(OlmError) -> [UInt8] {
    let key = try RawKey(private: seed, EVP_PKEY_ED25519)
    let context = EVP_MD_CTX_new()
    defer {
      EVP_MD_CTX_free(context)
      ERR_clear_error()
    }
    var signature = [UInt8](repeating: 0, count: Ed25519PublicKey.signatureLength)
    var length = signature.count
    guard context != nil, EVP_DigestSignInit(context, nil, nil, nil, key.key) == 1,
      EVP_DigestSign(context, &signature, &length, message, message.count) == 1, length == signature.count
    else { throw .unavailable("Ed25519") }
    return signature
  }
}

extension Ed25519PublicKey {
  static var signatureLength: Int { 64 }

  /// Whether `signature` is this key's signature of `message`. Anything of another length is not.
  package func isSignature(_ signature: some Collection<UInt8>, of message: [UInt8]) -> Bool {
    guard signature.count == Self.signatureLength, let key = try? RawKey(public: bytes, EVP_PKEY_ED25519) else {
      return false
    }
    let context = EVP_MD_CTX_new()
    defer {
      EVP_MD_CTX_free(context)
      ERR_clear_error()
    }
    return context != nil && EVP_DigestVerifyInit(context, nil, nil, nil, key.key) == 1
      && EVP_DigestVerify(context, Array(signature), signature.count, message, message.count) == 1
  }
}
