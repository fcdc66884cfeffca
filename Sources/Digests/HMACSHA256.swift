import COpenSSL

/// HMAC with SHA-256 (RFC 2104) under one key, with OpenSSL's EVP.
package final class HMACSHA256: Sendable {
  // With algorithm and key, which cost more than a short message. Written only before it is shared; copying only reads.
  private nonisolated(unsafe) let keyed: OpaquePointer

  package init(key: [UInt8]) {
    let algorithm = EVP_MAC_fetch(nil, "HMAC", nil)
    defer { EVP_MAC_free(algorithm) }
    let context = Self.found(EVP_MAC_CTX_new(Self.found(algorithm)))
    var digest = Array("SHA256".utf8CString)
    // Parameters hold pointers to their names and texts.
    let isKeyed = OSSL_MAC_PARAM_DIGEST.withCString { name in
      digest.withUnsafeMutableBufferPointer { digest in
        let parameters = [
          OSSL_PARAM_construct_utf8_string(name, digest.baseAddress, 0), OSSL_PARAM_construct_end(),
        ]
        return EVP_MAC_init(context, key, key.count, parameters) == 1
      }
    }
    precondition(isKeyed, Self.damage)
    keyed = context
  }

  deinit { EVP_MAC_CTX_free(keyed) }

  /// The 32-byte code of `message`.
  package func code(of message: [UInt8]) -> [UInt8] {
    let context = Self.found(EVP_MAC_CTX_dup(keyed))
    defer { EVP_MAC_CTX_free(context) }
    var code = [UInt8](repeating: 0, count: 32)
    var length = 0
    let isWell =
      EVP_MAC_update(context, message, message.count) == 1 && EVP_MAC_final(context, &code, &length, code.count) == 1
    precondition(isWell && length == 32, Self.damage)
    return code
  }

  private static let damage = "libcrypto has no HMAC: its installation is damaged"

  private static func found(_ thing: OpaquePointer?) -> OpaquePointer {
    guard let thing else { preconditionFailure(damage) }
    return thing
  }
}
