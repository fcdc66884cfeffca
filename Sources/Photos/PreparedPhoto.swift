/// A photo as it is sent, and what it was before.
package struct PreparedPhoto: Sendable, Hashable {
  /// The photo: upright, sRGB, without any metadata.
  package let jpeg: [UInt8]
  /// Pixels of the upright photo.
  package let width: Int
  package let height: Int
  /// A small JPEG of the same, upright and without metadata; never larger than the photo.
  package let thumbnail: [UInt8]
  /// A JPEG of the thumbnail's size that shows the light and the colours and nobody's face.
  package let blurred: [UInt8]
  /// The photo in some thirty characters (https://blurha.sh), to be shown until it is there.
  package let blurhash: String
  /// The JPEG quality it was encoded with; nil when its own data were kept.
  package let quality: Int?
  /// The photo's own picture data were kept, bit for bit.
  package let isLossless: Bool
  package let original: OriginalPhoto
  /// What the original had and this photo has not, in words for people.
  package let stripped: [String]

  package init(
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
package struct OriginalPhoto: Sendable, Hashable, Codable {
  package let format: PhotoFormat
  /// The size of the file in bytes.
  package let bytes: Int
  /// Pixels as they are stored, before the orientation is applied.
  package let width: Int
  package let height: Int
  /// The EXIF orientation, 1 to 8; 1 where none is given.
  package let orientation: Int

  package init(format: PhotoFormat, bytes: Int, width: Int, height: Int, orientation: Int) {
    self.format = format
    self.bytes = bytes
    self.width = width
    self.height = height
    self.orientation = orientation
  }
}
