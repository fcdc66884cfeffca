import COpenSSL
import Digests
import Messages

/// An RSA key that signs JSON web tokens: RSASSA-PKCS1-v1_5 with SHA-256 (RFC 7518, section 3.3), with OpenSSL's EVP.
package final class RS256Key: Sendable {
  // Written only before it is shared; OpenSSL's keys count their references and may sign on several threads.
  private nonisolated(unsafe) let key: OpaquePointer

  /// - Parameter pem: a private key in PEM, not encrypted; nil for anything else.
  package init?(pem: String) {
    let key = Array(pem.utf8).withUnsafeBytes { bytes -> OpaquePointer? in
      // OpenSSL reads the bytes later, and does not copy them.
      guard let source = BIO_new_mem_buf(bytes.baseAddress, Int32(bytes.count)) else { return nil }
      defer { BIO_free(source) }
      // Without a callback, OpenSSL would ask the terminal for the password of an encrypted key.
      return PEM_read_bio_PrivateKey(source, nil, { _, _, _, _ in -1 }, nil)
    }
    guard let key else {
      ERR_clear_error()
      return nil
    }
    self.key = key
    guard EVP_PKEY_get_base_id(key) == EVP_PKEY_RSA else { return nil }
  }

  deinit { EVP_PKEY_free(key) }

  /// A token of the claims (RFC 7515, compact serialization); nil if OpenSSL cannot sign.
  ///
  /// - Parameters:
  ///   - id: the key's id, for `kid`; nil for none.
  ///   - claims: a JSON object.
  package func token(id: String?, claims: [UInt8]) -> String? {
    let header: JSONObjectText = ["alg": "RS256", "typ": "JWT", "kid": id]
    let signed = "\(header.bytes.unpaddedBase64URL).\(claims.unpaddedBase64URL)"
    return signature(of: Array(signed.utf8)).map { "\(signed).\($0.unpaddedBase64URL)" }
  }

  private func signature(of message: [UInt8]) -> [UInt8]? {
    guard let context = EVP_MD_CTX_new() else { return nil }
    defer { EVP_MD_CTX_free(context) }
    var signature = [UInt8](repeating: 0, count: Int(EVP_PKEY_get_size(key)))
    var length = signature.count
    guard EVP_DigestSignInit(context, nil, EVP_sha256(), nil, key) == 1,
      EVP_DigestSign(context, &signature, &length, message, message.count) == 1
    else { return nil }
    return Array(signature.prefix(length))
  }
}
