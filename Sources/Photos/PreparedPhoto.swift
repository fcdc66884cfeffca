/// A photo as it is sent, with its thumbnail: upright, small enough, and nothing in it but the picture.
public struct PreparedPhoto: Sendable {
  /// The JPEG.
  public let jpeg: [UInt8]
  /// Pixels of the upright photo.
  public let width: Int
  /// Pixels of the upright photo.
  public let height: Int
  /// A JPEG of the same picture, upright as well.
  public let thumbnail: [UInt8]
  /// The JPEG quality it was encoded with; nil when it was not encoded again.
  public let quality: Int?
  public let original: OriginalPhoto
  /// What of the original is not in the photo any more, named for people: `EXIF`, `GPS position`, `XMP`…
  public let stripped: [String]

  /// Whether the picture is, sample for sample, the original's.
  public var isLossless: Bool { quality == nil }

  public init(
    jpeg: [UInt8], width: Int, height: Int, thumbnail: [UInt8], quality: Int?, original: OriginalPhoto,
    stripped: [String]
  ) {
    self.jpeg = jpeg
    self.width = width
    self.height = height
    self.thumbnail = thumbnail
    self.quality = quality
    self.original = original
    self.stripped = stripped
  }
}

/// A photo as it was dropped.
public struct OriginalPhoto: Sendable, Hashable {
  public let format: PhotoFormat
  public let bytes: Int
  /// Pixels as stored, before it is turned upright.
  public let width: Int
  /// Pixels as stored, before it is turned upright.
  public let height: Int
  /// EXIF's 1 to 8.
  public let orientation: Int

  public init(format: PhotoFormat, bytes: Int, width: Int, height: Int, orientation: Int) {
    self.format = format
    self.bytes = bytes
    self.width = width
    self.height = height
    self.orientation = orientation
  }
}
