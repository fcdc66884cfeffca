/// The kind of a picture by its first bytes, because names and announced types lie.
package enum PhotoFormat: String, Sendable, Hashable, Codable, CaseIterable {
  case jpeg, png, gif, webp, heic, avif, tiff, bmp
  case jpegXL = "jxl"
  case jpeg2000 = "jp2"
  case svg, pdf

  /// How files begin, with `?` for any byte. Those without a format are named by their brand. The first match counts.
  private static let beginnings: [(format: PhotoFormat?, text: String)] = [
    (.jpeg, "\u{FF}\u{D8}"), (.png, "\u{89}PNG\r\n"), (.gif, "GIF87a"), (.gif, "GIF89a"), (.webp, "RIFF????WEBP"),
    (nil, "????ftyp"), (.tiff, "II*\0"), (.tiff, "MM\0*"), (.bmp, "BM????\0\0\0\0"), (.jpegXL, "\u{FF}\n"),
    (.jpegXL, "????JXL "), (.jpeg2000, "????jP  "), (.jpeg2000, "\u{FF}O\u{FF}Q"), (.svg, "<svg"), (.pdf, "%PDF"),
  ]

  /// The format of a file that begins with `bytes`; nil if it is not a picture.
  package init?(of bytes: [UInt8]) {
    for (format, text) in Self.beginnings where bytes.count >= text.unicodeScalars.count {
      let begins = zip(bytes, text.unicodeScalars).allSatisfy { $1 == "?" || UInt32($0) == $1.value }
      guard begins, let format = format ?? Self.ofBrand(in: bytes) else { continue }
      self = format
      return
    }
    return nil
  }

  /// Whether it can be prepared and sent.
  package var isPhoto: Bool { [.jpeg, .png, .gif, .webp, .heic, .avif].contains(self) }

  package var name: String {
    switch self {
    case .jpegXL: "JPEG XL"
    case .jpeg2000: "JPEG 2000"
    case .webp: "WebP"
    default: rawValue.uppercased()
    }
  }

  /// The name with its article: "a PNG", "an AVIF".
  package var nameWithArticle: String { self == .avif || self == .svg ? "an \(name)" : "a \(name)" }

  /// HEIC and AVIF share a container; its brand, or a compatible one, tells which.
  private static func ofBrand(in bytes: [UInt8]) -> PhotoFormat? {
    let length = bytes.prefix(4).reduce(0) { $0 << 8 | Int($1) }
    let end = min(bytes.count, max(length, 12), 8 + 4 * 64)
    // General brands only mean a picture.
    var general: PhotoFormat?
    for offset in stride(from: 8, to: end - 3, by: 4) where offset != 12 {
      switch String(decoding: bytes[offset..<offset + 4], as: UTF8.self) {
      case "avif", "avis": return .avif
      case "heic", "heix", "hevc", "hevx", "heim", "heis": return .heic
      case "mif1", "msf1": general = .heic
      default: continue
      }
    }
    return general
  }
}
