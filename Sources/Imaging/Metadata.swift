/// The data in a photo's file beside its picture.
struct Metadata {
  private(set) var exif: Exif?
  /// The embedded colour profile, if it is complete.
  var profile: [UInt8]?
  /// The file's colours without a profile.
  var namedColors: NamedColors?
  /// The words of `PreparedPhoto.stripped`, except for the colour profile.
  private(set) var names: [String] = []
  /// There is a colour profile, complete or not.
  var mentionsProfile = false

  /// The largest accepted colour profile, in bytes. Those of printing presses have two or three million.
  static let profileLimit = 4 << 20

  mutating func add(_ name: String) {
    if !names.contains(name) { names.append(name) }
  }

  /// Reads an EXIF block. The first one counts.
  ///
  /// - Parameter tiff: the block without its format's prefix.
  mutating func readExif(_ tiff: ByteReader) {
    add("EXIF")
    let found = Exif(tiff)
    if found.hasPosition { add("GPS position") }
    if found.hasMakerNotes { add("maker notes") }
    if found.hasThumbnail { add("embedded thumbnail") }
    guard exif == nil else { return }
    exif = found
    if found.isAdobeRGB && namedColors == nil { namedColors = .adobe }
  }

  mutating func readXMP(_ contents: ByteReader) {
    add("XMP")
    if contents.contains("GPSLatitude") || contents.contains("GPSLongitude") { add("GPS position") }
  }

  /// Takes a colour profile of a plausible size.
  mutating func readProfile(_ bytes: [UInt8]) {
    mentionsProfile = true
    if (128...Self.profileLimit).contains(bytes.count) { profile = bytes }
  }

  /// Records data after the end of the picture.
  mutating func readRest(_ rest: ByteReader) {
    guard rest.count > 0 else { return }
    let hasPicture = rest.contains([0xFF, 0xD8, 0xFF])
    let hasVideo = rest.contains("ftyp")
    if hasPicture { add("second picture") }
    if hasVideo { add("video") }
    if !hasPicture && !hasVideo { add("trailing bytes") }
  }
}
