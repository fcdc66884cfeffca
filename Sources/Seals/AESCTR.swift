import Digests
import Messages

/// AES-256 in counter mode (NIST SP 800-38A) with a 32-byte key and a 16-byte counter block. Encryption and decryption
/// are the same.
package enum AESCTR {
  package static func apply(_ bytes: [UInt8], key: [UInt8], counter: [UInt8]) throws(DeliveryError) -> [UInt8] {
    guard bytes.count <= AES256.limit else {
      throw DeliveryError(.tooLargeAfterCompress, "the photo has \(bytes.count) bytes, too many to be sealed")
    }
    guard let result = AES256.ctr.run(bytes, key: key, vector: counter, encrypting: true) else {
      throw DeliveryError(.configError, "OpenSSL cannot encrypt with AES-256-CTR; check its installation")
    }
    return result
  }
}
