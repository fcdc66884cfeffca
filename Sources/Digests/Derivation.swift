import COpenSSL

/// HKDF with SHA-256 (RFC 5869).
package enum Derivation {
  /// `count` bytes from `secret`; at most 255 blocks of 32 bytes. Ends the process if OpenSSL has no HMAC.
  package static func hkdf(
    _ secret: [UInt8], salt: [UInt8] = [UInt8](repeating: 0, count: 32), info: String = "", count: Int = 32
  ) -> [UInt8] {
    var extracted = HMACSHA256(key: salt).code(of: secret)
    var (output, block): ([UInt8], [UInt8]) = ([], [])
    defer {
      extracted.wipe()
      block.wipe()
      output.wipe()
    }
    let expansion = HMACSHA256(key: extracted)
    for number in 1...UInt8((count + 31) / 32) {
      block = expansion.code(of: block + info.utf8 + [number])
      output += block
    }
    return Array(output.prefix(count))
  }
}

extension [UInt8] {
  /// Overwrites the bytes, which no optimiser may omit. Other copies remain.
  package mutating func wipe() {
    withUnsafeMutableBytes { OPENSSL_cleanse($0.baseAddress, $0.count) }
  }
}
