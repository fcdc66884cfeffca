extension [UInt8] {
  package var hex: String {
    let digits = [UInt8]("0123456789abcdef".utf8)
    return String(unsafeUninitializedCapacity: count * 2) { text in
      for (index, byte) in enumerated() {
        text[index * 2] = digits[Int(byte >> 4)]
        text[index * 2 + 1] = digits[Int(byte & 15)]
      }
      return count * 2
    }
  }

  /// Decodes pairs of either case; nil for anything else.
  package init?(hex: some StringProtocol) {
    let digits = hex.utf8.map { Character(Unicode.Scalar($0)).hexDigitValue.map(UInt8.init) }
    guard digits.count.isMultiple(of: 2) else { return nil }
    self.init()
    reserveCapacity(digits.count / 2)
    for index in stride(from: 0, to: digits.count, by: 2) {
      guard let high = digits[index], let low = digits[index + 1] else { return nil }
      append(high << 4 | low)
    }
  }
}
