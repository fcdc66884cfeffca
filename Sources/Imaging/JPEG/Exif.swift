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

  /// - Parameter contents: the TIFF structure after the EXIF segment's name.
  init(_ contents: ByteReader) {
    guard let main = TIFFDirectory(contents) else { return }
    let tiff = main.tiff
    // Only the first directory counts, not the thumbnail's.
    if let value = main.short(Tag.orientation), let known = Orientation(rawValue: value) { orientation = known }
    if let next = tiff.uint32(at: main.end), next != 0 {
      hasThumbnail = TIFFDirectory(in: tiff, at: next)?.has(Tag.thumbnailOffset) ?? false
    }
    if let offset = main.long(Tag.position) {
      let fields = TIFFDirectory(in: tiff, at: offset)
      hasPosition = fields.map { $0.has(Tag.latitude) || $0.has(Tag.longitude) } ?? true
    }
    if let offset = main.long(Tag.exif), let camera = TIFFDirectory(in: tiff, at: offset) {
      hasMakerNotes = camera.has(Tag.makerNote)
      isAdobeRGB = Self.isAdobeRGB(camera, in: tiff)
    }
  }

  /// "R03" in the interoperability directory is standard; some cameras use colour space 2.
  private static func isAdobeRGB(_ camera: TIFFDirectory, in tiff: ByteReader) -> Bool {
    guard let space = camera.short(Tag.colorSpace), space != 1 else { return false }
    if space == 2 { return true }
    guard let offset = camera.long(Tag.interoperability), let fields = TIFFDirectory(in: tiff, at: offset),
      let value = fields.value(Tag.interoperabilityIndex)
    else { return false }
    return tiff.begins(with: "R03", at: value)
  }
}
