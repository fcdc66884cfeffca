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
    return original.map { "\(number)-\(cleaned($0))" } ?? number
  }

  /// The number of a name of ours; nil for another one.
  static func number(_ name: String) -> Int? {
    name.hasPrefix("photo-") ? Int(withoutOriginal(name).dropFirst(6)) : nil
  }

  /// The user's name of a photo's file, for its owner.
  package static func original(_ name: String) -> String {
    let rest = name.dropFirst(withoutOriginal(name).count)
    return rest.isEmpty ? name : String(rest.dropFirst())
  }

  /// The part that counts for the digest of a request: a duplicate may come from a file of another name.
  static func withoutOriginal(_ name: String) -> String {
    let bytes = name.utf8
    let isOurs =
      bytes.starts(with: "photo-".utf8) && bytes.count > numbers
      && bytes.dropFirst(6).prefix(2).allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
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
    var base = scalars[...]
    while text(base).utf8.count + kept.utf8.count > longest { base.removeLast() }
    return text(base) + kept
  }
}
