import Digests
import Messages

/// AES-256-GCM (NIST SP 800-38D) with a 32-byte key, a 12-byte nonce, no associated data and the 16-byte tag after the
/// ciphertext.
enum AESGCM {
  static func seal(_ plain: [UInt8], key: [UInt8], nonce: [UInt8]) throws(DeliveryError) -> [UInt8] {
    guard plain.count <= AES256.limit else {
      throw DeliveryError(.tooLargeAfterCompress, "the photo has \(plain.count) bytes, too many to be sealed")
    }
    guard let object = AES256.gcm.run(plain, key: key, vector: nonce, encrypting: true) else {
      throw DeliveryError(.configError, "OpenSSL cannot encrypt with AES-256-GCM; check its installation")
    }
    return object
  }

  /// Decrypts and returns nothing before the tag is verified.
  static func open(_ object: [UInt8], key: [UInt8], nonce: [UInt8]) throws(SealError) -> [UInt8] {
    guard let plain = AES256.gcm.run(object, key: key, vector: nonce, encrypting: false) else {
      throw .decryptionFailed
    }
    return plain
  }
}
