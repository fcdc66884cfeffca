import FoundationEssentials

extension [UInt8] {
  /// RFC 4648, section 4, padded.
  public var base64: String { Data(self).base64EncodedString() }

  /// RFC 4648, section 4, without padding.
  public var unpaddedBase64: String { String(base64.prefix { $0 != "=" }) }

  /// RFC 4648, section 5: the alphabet of URLs, without padding.
  public var unpaddedBase64URL: String {
    String(unpaddedBase64.map { $0 == "+" ? "-" : $0 == "/" ? "_" : $0 })
  }

  /// Reads either alphabet, with padding or without; nil on anything else.
  public init?(base64 text: some StringProtocol) {
    let letters = text.map { $0 == "-" ? "+" : $0 == "_" ? "/" : $0 }
    let bare = letters.prefix { $0 != "=" }
    let padding = letters.dropFirst(bare.count)
    guard padding.count <= 2, padding.allSatisfy({ $0 == "=" }) else { return nil }
    guard let data = Data(base64Encoded: String(bare) + String(repeating: "=", count: (4 - bare.count % 4) % 4)) else {
      return nil
    }
    self.init(data)
  }
}
