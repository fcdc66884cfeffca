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
    let digits = hex.utf8.map { character -> UInt8? in
      switch character {
      case UInt8(ascii: "0")...UInt8(ascii: "9"): character - UInt8(ascii: "0")
      case UInt8(ascii: "a")...UInt8(ascii: "f"): character - UInt8(ascii: "a") + 10
      case UInt8(ascii: "A")...UInt8(ascii: "F"): character - UInt8(ascii: "A") + 10
      default: nil
      }
    }
    guard digits.count.isMultiple(of: 2) else { return nil }
    self.init()
    reserveCapacity(digits.count / 2)
    for index in stride(from: 0, to: digits.count, by: 2) {
      guard let high = digits[index], let low = digits[index + 1] else { return nil }
      append(high << 4 | low)
    }
  }
}
