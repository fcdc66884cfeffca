import Digests

/// HKDF with SHA-256 (RFC 5869), which Olm and Megolm use for more than one block of output.
package enum Derivation {
  /// `count` bytes from `secret`; at most 255 blocks of 32 bytes.
  package static func hkdf(
    _ secret: [UInt8], salt: [UInt8] = [UInt8](repeating: 0, count: 32), info: String, count: Int
  ) -> [UInt8] {
    let extracted = HMACSHA256(key: HMACSHA256(key: salt).code(of: secret))
    var (output, block): ([UInt8], [UInt8]) = ([], [])
    for number in 1...UInt8((count + 31) / 32) {
      block = extracted.code(of: block + info.utf8 + [number])
      output += block
    }
    return Array(output.prefix(count))
  }
}
