/// A photo as it is sent, and what it was before.
public struct PreparedPhoto: Sendable, Hashable {
  /// The photo: upright, sRGB, without any metadata.
  public let jpeg: [UInt8]
  /// Pixels of the upright photo.
  public let width: Int
  public let height: Int
  /// A small JPEG of the same, upright and without metadata; never larger than the photo.
  public let thumbnail: [UInt8]
  /// A JPEG of the thumbnail's size that shows the light and the colours and nobody's face.
  public let blurred: [UInt8]
  /// The photo in some thirty characters (https://blurha.sh), to be shown until it is there.
  public let blurhash: String
  /// The JPEG quality it was encoded with; nil when its own data were kept.
  public let quality: Int?
  /// The photo's own picture data were kept, bit for bit.
  public let isLossless: Bool
  public let original: OriginalPhoto
  /// What the original had and this photo has not, in words for people.
  public let stripped: [String]

  public init(
    jpeg: [UInt8], width: Int, height: Int, thumbnail: [UInt8], blurred: [UInt8], blurhash: String, quality: Int?,
    isLossless: Bool,
    original: OriginalPhoto, stripped: [String]
  ) {
    self.jpeg = jpeg
    self.width = width
    self.height = height
    self.thumbnail = thumbnail
    self.blurred = blurred
    self.blurhash = blurhash
    self.quality = quality
    self.isLossless = isLossless
    self.original = original
    self.stripped = stripped
  }
}

/// What came in.
public struct OriginalPhoto: Sendable, Hashable, Codable {
  public let format: PhotoFormat
  /// The size of the file in bytes.
  public let bytes: Int
  /// Pixels as they are stored, before the orientation is applied.
  public let width: Int
  public let height: Int
  /// The EXIF orientation, 1 to 8; 1 where none is given.
  public let orientation: Int

  public init(format: PhotoFormat, bytes: Int, width: Int, height: Int, orientation: Int) {
    self.format = format
    self.bytes = bytes
    self.width = width
    self.height = height
    self.orientation = orientation
  }
}
