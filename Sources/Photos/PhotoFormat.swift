/// The kind of a file, told by its first bytes and never by its name.
public enum PhotoFormat: String, Sendable, CaseIterable {
  case jpeg, png, gif, webp, heic, avif, tiff, bmp, jxl, pdf

  /// Nil when the bytes begin like no picture that we know by name.
  public init?(of bytes: [UInt8]) {
    func starts(_ magic: [UInt8], at offset: Int = 0) -> Bool {
      bytes.count >= offset + magic.count && bytes[offset..<offset + magic.count].elementsEqual(magic)
    }
    func says(_ text: String, at offset: Int = 0) -> Bool { starts(Array(text.utf8), at: offset) }
    let brands = bytes.count >= 12 && says("ftyp", at: 4) ? String(decoding: bytes[8..<12], as: UTF8.self) : nil
    switch true {
    case starts([0xff, 0xd8, 0xff]): self = .jpeg
    case starts([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]): self = .png
    case says("GIF87a"), says("GIF89a"): self = .gif
    case says("RIFF") && says("WEBP", at: 8): self = .webp
    case brands == "avif" || brands == "avis": self = .avif
    case ["heic", "heix", "hevc", "heim", "heis", "hevm", "mif1", "msf1"].contains(brands): self = .heic
    case starts([0x49, 0x49, 0x2a, 0x00]), starts([0x4d, 0x4d, 0x00, 0x2a]): self = .tiff
    case starts([0xff, 0x0a]), starts([0, 0, 0, 0x0c, 0x4a, 0x58, 0x4c, 0x20]): self = .jxl
    case says("%PDF-"): self = .pdf
    case says("BM"): self = .bmp
    default: return nil
    }
  }
}
