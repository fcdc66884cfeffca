/// The few facts of an EXIF block (CIPA DC-008, a TIFF structure) that matter: the rest is only there to be stripped.
///
/// Offsets of hostile blocks may point anywhere and in circles: each directory is read once, every access is checked.
struct ExifFacts {
  /// 1 to 8, from the main picture's directory; 1 when there is none.
  private(set) var orientation = 1
  /// The colours are Adobe RGB without a profile, as cameras write it: uncalibrated, interoperability index R03.
  private(set) var isAdobeRGB = false
  /// Names for people of what is in the block.
  private(set) var names: [String] = []

  init() {}

  init(_ block: [UInt8]) {
    guard let tiff = TIFFReader(block) else { return }
    var isUncalibrated = false
    var interoperability = ""
    let main = tiff.directory(at: tiff.first)
    for entry in main.entries {
      switch entry.tag {
      case 0x0112:
        if let value = tiff.number(entry), (1...8).contains(value) { orientation = value }
      case 0x8825:
        if let offset = tiff.number(entry), !tiff.directory(at: offset).entries.isEmpty { names.append("GPS position") }
      case 0x8769:
        guard let offset = tiff.number(entry) else { continue }
        for entry in tiff.directory(at: offset).entries {
          switch entry.tag {
          case 0x927c: names.append("maker notes")
          case 0xa001: isUncalibrated = tiff.number(entry) == 0xffff
          case 0xa005:
            guard let offset = tiff.number(entry) else { continue }
            for entry in tiff.directory(at: offset).entries where entry.tag == 1 {
              interoperability = tiff.inlineText(entry)
            }
          default: break
          }
        }
      default: break
      }
    }
    if main.next != 0, !tiff.directory(at: main.next).entries.isEmpty { names.append("embedded thumbnail") }
    isAdobeRGB = isUncalibrated && interoperability.hasPrefix("R03")
  }
}

/// Reads directories of a TIFF structure.
private struct TIFFReader {
  struct Entry {
    let tag: Int
    let type: Int
    let count: Int
    /// Where the four bytes of the value, or of its offset, are.
    let position: Int
  }

  let first: Int
  private let bytes: [UInt8]
  private let isLittleEndian: Bool

  private static let mostEntries = 512

  init?(_ bytes: [UInt8]) {
    switch bytes.prefix(2) {
    case [0x49, 0x49]: isLittleEndian = true
    case [0x4d, 0x4d]: isLittleEndian = false
    default: return nil
    }
    self.bytes = bytes
    guard Self.read(bytes, 2, 2, isLittleEndian) == 42, let offset = Self.read(bytes, 4, 4, isLittleEndian) else {
      return nil
    }
    first = offset
  }

  func directory(at offset: Int) -> (entries: [Entry], next: Int) {
    guard offset >= 8, let count = read(offset, 2), count <= Self.mostEntries else { return ([], 0) }
    let entries = (0..<count).compactMap { index -> Entry? in
      let position = offset + 2 + index * 12
      guard let tag = read(position, 2), let type = read(position + 2, 2), let count = read(position + 4, 4),
        position + 12 <= bytes.count
      else { return nil }
      return Entry(tag: tag, type: type, count: count, position: position + 8)
    }
    return (entries, read(offset + 2 + count * 12, 4) ?? 0)
  }

  /// The value of a SHORT or LONG.
  func number(_ entry: Entry) -> Int? {
    switch entry.type {
    case 3: read(entry.position, 2)
    case 4, 13: read(entry.position, 4)
    default: nil
    }
  }

  /// The text of an ASCII value of up to four bytes.
  func inlineText(_ entry: Entry) -> String {
    guard entry.type == 2, entry.count <= 4 else { return "" }
    return String(decoding: bytes[entry.position..<entry.position + 4].prefix { $0 != 0 }, as: UTF8.self)
  }

  private func read(_ position: Int, _ length: Int) -> Int? { Self.read(bytes, position, length, isLittleEndian) }

  private static func read(_ bytes: [UInt8], _ position: Int, _ length: Int, _ isLittleEndian: Bool) -> Int? {
    guard position >= 0, position + length <= bytes.count else { return nil }
    let field = bytes[position..<position + length]
    return isLittleEndian
      ? field.reversed().reduce(0) { $0 << 8 | Int($1) } : field.reduce(0) { $0 << 8 | Int($1) }
  }
}
