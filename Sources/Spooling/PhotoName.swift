/// The names of photos from `photospool send`: `photo-00-IMG_1234.jpg`. The number keeps them in order. The rest is for
/// the user and is never published.
package enum PhotoName {
  private static let longest = 100
  private static let numbers = "photo-00".utf8.count

  /// - Parameters:
  ///   - index: below 100.
  ///   - original: the user's file; nil without a name, as for a pipe.
  static func name(_ index: Int, of original: String?) -> String {
    let number = "photo-\(index < 10 ? "0" : "")\(index)"
    guard let original, !original.isEmpty else { return number }
    return "\(number)-\(cleaned(original))"
  }

  /// The number of a name of ours; nil for another one, which somebody in the spool's group may have written.
  static func number(_ name: String) -> Int? {
    let ours = withoutOriginal(name).utf8
    let digits = ours.suffix(2)
    guard ours.count == numbers, ours.starts(with: "photo-".utf8), digits.allSatisfy(isDigit) else { return nil }
    return Int(String(decoding: digits, as: UTF8.self))
  }

  private static func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }

  /// The user's name of a photo's file, for its owner. A name of another form is the user's own.
  package static func original(_ name: String) -> String {
    // Swift joins the hyphen and a mark behind it to one character.
    let rest = name.utf8.dropFirst(withoutOriginal(name).utf8.count + 1)
    return rest.isEmpty ? name : String(decoding: rest, as: UTF8.self)
  }

  /// The part that counts for the digest of a request: a duplicate may come from a file of another name.
  static func withoutOriginal(_ name: String) -> String {
    let bytes = name.utf8
    let isOurs =
      bytes.starts(with: "photo-".utf8) && bytes.count > numbers
      && bytes.dropFirst(6).prefix(2).allSatisfy(isDigit)
      && bytes.dropFirst(numbers).first == UInt8(ascii: "-")
    return isOurs ? String(decoding: bytes.prefix(numbers), as: UTF8.self) : name
  }

  /// Keeps letters and digits of any script, `.`, `_` and `-`, and replaces the rest by `_`. A long name loses its
  /// middle.
  private static func cleaned(_ name: String) -> String {
    let scalars = name.unicodeScalars.map { scalar -> Unicode.Scalar in
      switch scalar.properties.generalCategory {
      case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .modifierLetter, .otherLetter, .nonspacingMark,
        .spacingMark, .decimalNumber:
        scalar
      default: ".-".unicodeScalars.contains(scalar) ? scalar : "_"
      }
    }
    func text(_ scalars: some Sequence<Unicode.Scalar>) -> String {
      var text = ""
      text.unicodeScalars.append(contentsOf: scalars)
      return text
    }
    let clean = text(scalars)
    if clean.utf8.count <= longest { return clean }
    let ending = scalars.lastIndex(of: ".").map { text(scalars[$0...]) } ?? ""
    let kept = ending.utf8.count <= 16 ? ending : ""
    var room = longest - kept.utf8.count
    let base = scalars.prefix { scalar in
      room -= UTF8.width(scalar)
      return room >= 0
    }
    return text(base) + kept
  }
}
