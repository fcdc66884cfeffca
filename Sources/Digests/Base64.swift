import FoundationEssentials

extension [UInt8] {
  /// RFC 4648, section 4, padded.
  package var base64: String { Data(self).base64EncodedString() }

  /// RFC 4648, section 4, without padding.
  package var unpaddedBase64: String { String(base64.prefix { $0 != "=" }) }

  /// RFC 4648, section 5: the URL alphabet, without padding.
  package var unpaddedBase64URL: String {
    String(unpaddedBase64.map { $0 == "+" ? "-" : $0 == "/" ? "_" : $0 })
  }

  /// Decodes either alphabet, padded or not; nil for anything else.
  package init?(base64 text: some StringProtocol) {
    let pad = UInt8(ascii: "=")
    let bare = text.utf8.prefix { $0 != pad }
    let padding = text.utf8[bare.endIndex...]
    guard padding.count <= 2, padding.allSatisfy({ $0 == pad }) else { return nil }
    var letters = bare.map { letter in
      letter == UInt8(ascii: "-") ? UInt8(ascii: "+") : letter == UInt8(ascii: "_") ? UInt8(ascii: "/") : letter
    }
    letters += repeatElement(pad, count: (4 - letters.count % 4) % 4)
    guard let data = Data(base64Encoded: Data(letters)) else { return nil }
    self.init(data)
  }
}
