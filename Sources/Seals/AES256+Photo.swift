import Digests
import Messages

extension AES256 {
  /// Encrypts a photo or its envelope. In counter mode, decryption is the same.
  package func encrypt(_ plain: [UInt8], key: [UInt8], vector: [UInt8]) throws(DeliveryError) -> [UInt8] {
    guard plain.count <= Self.limit else {
      throw DeliveryError(.tooLargeAfterCompress, "the photo has \(plain.count) bytes, too many to be sealed")
    }
    guard let object = run(plain, key: key, vector: vector, encrypting: true) else {
      throw DeliveryError(
        .configError, "OpenSSL cannot encrypt with AES-256-\(self == .gcm ? "GCM" : "CTR"); check its installation")
    }
    return object
  }

  /// Decrypts with GCM, and returns nothing before the tag is verified.
  func decrypt(_ object: [UInt8], key: [UInt8], vector: [UInt8]) throws(SealError) -> [UInt8] {
    guard let plain = run(object, key: key, vector: vector, encrypting: false) else { throw .decryptionFailed }
    return plain
  }
}
