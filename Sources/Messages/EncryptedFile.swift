/// How a Matrix event announces a sealed file: version 2 of `EncryptedFile`, as the specification's section on sending
/// encrypted attachments has it.
public struct EncryptedFile: Hashable, Sendable, Codable {
  /// A key in the form of RFC 7517.
  public struct Key: Hashable, Sendable, Codable {
    public let kty: String
    public let alg: String
    public let ext: Bool
    public let operations: [String]
    /// 32 bytes in URL-safe base64 without padding.
    public let k: String

    private enum CodingKeys: String, CodingKey {
      case kty, alg, ext, k
      case operations = "key_ops"
    }

    public init(k: String) {
      kty = "oct"
      alg = "A256CTR"
      ext = true
      operations = ["encrypt", "decrypt"]
      self.k = k
    }
  }

  /// `mxc://SERVER/ID`.
  public let url: String
  public let v: String
  public let key: Key
  /// The whole counter block, 16 bytes in base64 without padding: the last 8 are zero.
  public let iv: String
  /// `sha256` of the stored object, in base64 without padding.
  public let hashes: [String: String]

  public init(url: String, key: Key, iv: String, sha256: String) {
    self.url = url
    v = "v2"
    self.key = key
    self.iv = iv
    hashes = ["sha256": sha256]
  }
}

/// It carries the key, so it describes itself without: not in a log, not in a debugger's dump.
extension EncryptedFile: CustomStringConvertible, CustomReflectable {
  public var description: String { "encrypted file \(hashes["sha256"] ?? "")" }
  public var customMirror: Mirror { Mirror(self, children: ["hashes": hashes]) }
}

extension EncryptedFile.Key: CustomStringConvertible, CustomReflectable {
  public var description: String { "(key)" }
  public var customMirror: Mirror { Mirror(self, children: []) }
}
