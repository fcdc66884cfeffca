/// The needed fields of an EXIF block. A broken block gives what is readable.
struct Exif {
  private(set) var orientation = Orientation.upright
  private(set) var hasPosition = false
  private(set) var hasThumbnail = false
  private(set) var hasMakerNotes = false
  /// The camera names Adobe RGB, often without a colour profile.
  private(set) var isAdobeRGB = false

  private enum Tag {
    static let orientation = 0x0112
    static let thumbnailOffset = 0x0201
    static let exif = 0x8769
    static let position = 0x8825
    static let makerNote = 0x927C
    static let colorSpace = 0xA001
    static let interoperability = 0xA005
    static let interoperabilityIndex = 0x0001
    static let latitude = 0x0002
    static let longitude = 0x0004
  }

  /// A limit beyond real directories.
  private static let fieldLimit = 1000

  /// - Parameter contents: the TIFF structure after the EXIF segment's name.
  init(_ contents: ByteReader) {
    var tiff = contents
    if tiff.begins(with: "II") {
      tiff.isLittleEndian = true
    } else if !tiff.begins(with: "MM") {
      return
    }
    guard let offset = tiff.uint32(at: 4), let main = Fields(in: tiff, at: offset) else { return }
    // Only the first directory counts, not the thumbnail's.
    if let value = main.short(Tag.orientation), let known = Orientation(rawValue: value) { orientation = known }
    if let next = tiff.uint32(at: main.end), next != 0 {
      hasThumbnail = Fields(in: tiff, at: next)?.has(Tag.thumbnailOffset) ?? false
    }
    if let offset = main.long(Tag.position) {
      let fields = Fields(in: tiff, at: offset)
      hasPosition = fields.map { $0.has(Tag.latitude) || $0.has(Tag.longitude) } ?? true
    }
    if let offset = main.long(Tag.exif), let camera = Fields(in: tiff, at: offset) {
      hasMakerNotes = camera.has(Tag.makerNote)
      isAdobeRGB = Self.isAdobeRGB(camera, in: tiff)
    }
  }

  /// "R03" in the interoperability directory is standard; some cameras use colour space 2.
  private static func isAdobeRGB(_ camera: Fields, in tiff: ByteReader) -> Bool {
    guard let space = camera.short(Tag.colorSpace), space != 1 else { return false }
    if space == 2 { return true }
    guard let offset = camera.long(Tag.interoperability), let fields = Fields(in: tiff, at: offset),
      let value = fields.value(Tag.interoperabilityIndex)
    else { return false }
    return tiff.begins(with: "R03", at: value)
  }

  /// A directory: its fields and its end.
  private struct Fields {
    private let tiff: ByteReader
    private let start: Int
    private let count: Int

    init?(in tiff: ByteReader, at offset: Int) {
      guard let count = tiff.uint16(at: offset) else { return nil }
      self.tiff = tiff
      start = offset + 2
      self.count = min(count, Exif.fieldLimit, max(0, tiff.count - start) / 12)
    }

    var end: Int { start + 12 * count }

    /// The offset of the first value with this tag, if it has at most four bytes.
    func value(_ tag: Int) -> Int? {
      for index in 0..<count where tiff.uint16(at: start + 12 * index) == tag { return start + 12 * index + 8 }
      return nil
    }

    func has(_ tag: Int) -> Bool { value(tag) != nil }

    func short(_ tag: Int) -> Int? {
      guard let value = value(tag) else { return nil }
      // Some programs write type 4, a long number.
      return tiff.uint16(at: value - 6) == 4 ? tiff.uint32(at: value) : tiff.uint16(at: value)
    }

    func long(_ tag: Int) -> Int? { value(tag).flatMap { tiff.uint32(at: $0) } }
  }
}
