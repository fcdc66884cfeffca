/// The announcement of a sealed file in a Matrix event: version 2 of `EncryptedFile`, in the specification's section on
/// encrypted attachments.
package struct EncryptedFile: Hashable, Sendable, Codable {
  /// A key in the form of RFC 7517.
  package struct Key: Hashable, Sendable, Codable {
    package let kty: String
    package let alg: String
    package let ext: Bool
    package let operations: [String]
    /// 32 bytes in URL-safe base64 without padding.
    package let k: String

    private enum CodingKeys: String, CodingKey {
      case kty, alg, ext, k
      case operations = "key_ops"
    }

    package init(k: String) {
      kty = "oct"
      alg = "A256CTR"
      ext = true
      operations = ["encrypt", "decrypt"]
      self.k = k
    }
  }

  /// `mxc://SERVER/ID`.
  package let url: String
  package let v: String
  package let key: Key
  /// The counter block, 16 bytes in base64 without padding; the last 8 are zero.
  package let iv: String
  /// `sha256` of the stored object, in base64 without padding.
  package let hashes: [String: String]

  package init(url: String, key: Key, iv: String, sha256: String) {
    self.url = url
    v = "v2"
    self.key = key
    self.iv = iv
    hashes = ["sha256": sha256]
  }
}

/// Descriptions leave out the key, in logs and debugger dumps.
extension EncryptedFile: CustomStringConvertible, CustomReflectable {
  package var description: String { "encrypted file \(hashes["sha256"] ?? "")" }
  package var customMirror: Mirror { Mirror(self, children: ["hashes": hashes]) }
}

extension EncryptedFile.Key: CustomStringConvertible, CustomReflectable {
  package var description: String { "(key)" }
  package var customMirror: Mirror { Mirror(self, children: []) }
}
