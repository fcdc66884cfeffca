/// A photo as it is sent, and facts about its original.
package struct PreparedPhoto: Sendable, Hashable {
  /// The photo: upright, sRGB, without metadata.
  package let jpeg: [UInt8]
  /// Pixels, upright.
  package let width: Int
  package let height: Int
  /// A small JPEG of the photo without metadata; never larger than it.
  package let thumbnail: [UInt8]
  /// A JPEG of the thumbnail's size in which nobody can be recognised.
  package let blurred: [UInt8]
  /// A placeholder image (https://blurha.sh).
  package let blurhash: String
  /// The JPEG quality; nil if the photo's own data was kept.
  package let quality: Int?
  /// The photo's own picture data was kept, bit for bit.
  package var isLossless: Bool { quality == nil }
  package let original: OriginalPhoto
  /// Removed metadata, in words for people.
  package let stripped: [String]

  package init(
    jpeg: [UInt8], width: Int, height: Int, thumbnail: [UInt8], blurred: [UInt8], blurhash: String, quality: Int?,
    original: OriginalPhoto, stripped: [String]
  ) {
    self.jpeg = jpeg
    self.width = width
    self.height = height
    self.thumbnail = thumbnail
    self.blurred = blurred
    self.blurhash = blurhash
    self.quality = quality
    self.original = original
    self.stripped = stripped
  }
}

package struct OriginalPhoto: Sendable, Hashable, Codable {
  package let format: PhotoFormat
  /// The size of the file in bytes.
  package let bytes: Int
  /// Pixels as stored, before orientation.
  package let width: Int
  package let height: Int
  /// How the file has its pixels turned, as an EXIF orientation, 1 to 8; 1 by default.
  package let orientation: Int

  package init(format: PhotoFormat, bytes: Int, width: Int, height: Int, orientation: Int) {
    self.format = format
    self.bytes = bytes
    self.width = width
    self.height = height
    self.orientation = orientation
  }
}
