extension String {
  /// Percent-encodes as SigV4 (RFC 3986): everything but unreserved characters becomes `%XX` with upper-case digits,
  /// per byte of UTF-8.
  ///
  /// - Parameter kept: more ASCII characters to keep.
  package func percentEncoded(keeping kept: String = "") -> String {
    let digits = Array("0123456789ABCDEF".utf8)
    var encoded = [UInt8]()
    encoded.reserveCapacity(utf8.count)
    for byte in utf8 {
      if byte.isUnreserved || kept.utf8.contains(byte) {
        encoded.append(byte)
      } else {
        encoded += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
      }
    }
    return String(decoding: encoded, as: UTF8.self)
  }
}

extension UInt8 {
  fileprivate var isUnreserved: Bool {
    switch self {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"):
      true
    default:
      "-._~".utf8.contains(self)
    }
  }
}
