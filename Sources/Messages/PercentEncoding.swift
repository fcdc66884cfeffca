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
      if byte.isAlphanumeric || "-._~".utf8.contains(byte) || kept.utf8.contains(byte) {
        encoded.append(byte)
      } else {
        encoded += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
      }
    }
    return String(decoding: encoded, as: UTF8.self)
  }

  /// Decodes `%XX` of either case; nil if that is malformed or the result is not UTF-8. Foundation's decoding drops a byte
  /// order mark at the beginning, so that the address of one conversation would open another.
  package init?(percentEncoded text: some StringProtocol) {
    var bytes: [UInt8] = []
    var rest = text.utf8.makeIterator()
    func digit() -> UInt8? { rest.next().flatMap { Character(Unicode.Scalar($0)).hexDigitValue }.map(UInt8.init) }
    while let byte = rest.next() {
      if byte != UInt8(ascii: "%") {
        bytes.append(byte)
      } else if let high = digit(), let low = digit() {
        bytes.append(high << 4 | low)
      } else {
        return nil
      }
    }
    self.init(validating: bytes, as: UTF8.self)
  }
}

extension UInt8 {
  /// Whether it is an ASCII letter or digit.
  package var isAlphanumeric: Bool {
    switch self {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"):
      true
    default: false
    }
  }
}
