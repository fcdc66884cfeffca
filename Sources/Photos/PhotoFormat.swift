/// The kind of a picture by its first bytes, because names and announced types lie.
package enum PhotoFormat: String, Sendable, Hashable, Codable, CaseIterable {
  case jpeg, png, gif, webp, heic, avif, tiff, bmp
  case jpegXL = "jxl"
  case jpeg2000 = "jp2"
  case svg, pdf

  /// The format of a file that begins with `bytes`; nil if it is not a picture.
  package init?(of bytes: [UInt8]) {
    func begins(_ prefix: [UInt8], at offset: Int = 0) -> Bool {
      bytes.count >= offset + prefix.count && bytes[offset..<offset + prefix.count].elementsEqual(prefix)
    }
    func says(_ text: String, at offset: Int = 0) -> Bool { begins(Array(text.utf8), at: offset) }

    if begins([0xFF, 0xD8]) {
      self = .jpeg
    } else if begins([0x89]) && says("PNG\r\n", at: 1) {
      self = .png
    } else if says("GIF87a") || says("GIF89a") {
      self = .gif
    } else if says("RIFF") && says("WEBP", at: 8) {
      self = .webp
    } else if says("ftyp", at: 4), let format = Self.ofBrand(in: bytes) {
      self = format
    } else if begins([0x49, 0x49, 0x2A, 0]) || begins([0x4D, 0x4D, 0, 0x2A]) {
      self = .tiff
    } else if says("BM") && begins([0, 0, 0, 0], at: 6) {
      self = .bmp
    } else if begins([0xFF, 0x0A]) || says("JXL ", at: 4) {
      self = .jpegXL
    } else if says("jP  ", at: 4) || begins([0xFF, 0x4F, 0xFF, 0x51]) {
      self = .jpeg2000
    } else if says("<svg") {
      self = .svg
    } else if says("%PDF") {
      self = .pdf
    } else {
      return nil
    }
  }

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
