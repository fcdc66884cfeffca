package struct PhotoLimits: Sendable, Hashable, Codable {
  /// The size limit of the file, in bytes.
  package var inputBytes = 10_000_000
  /// Width times height, as stored.
  package var pixels = 100_000_000
  /// Scans of a progressive photo; a usual one has ten.
  package var scans = 100
  /// Pixels times scans, the cost of a progressive photo: 1.5 thousand million take one or two seconds.
  package var pixelScans = 1_500_000_000
  /// Pictures, tiles and descriptions in a HEIC file; telephones list fifty to two hundred.
  package var items = 2000
  /// Memory for a decoder, in bytes. A progressive photo needs two to six per pixel.
  package var decoderBytes = 672 << 20
  /// The longer side of the result, in pixels: 1 to 2732. Photos are never enlarged.
  package var longestSide = 2048
  /// The side of the centre square, in pixels; 0 keeps the whole photo. Never enlarged.
  package var squareSide = 0
  /// The size limit of the result, in bytes, inclusive.
  package var outputBytes = 999_999
  /// The JPEG quality that is tried first, 1 to 100.
  package var bestQuality = 85
  /// The lowest JPEG quality; below it the photo is made smaller.
  package var worstQuality = 50
  package var thumbnailSide = 300
  package var thumbnailQuality = 80

  package init() {}

  /// The same limits with every number in a valid range.
  package var sane: PhotoLimits {
    var limits = self
    limits.longestSide = min(max(longestSide, 1), 2732)
    limits.squareSide = min(max(squareSide, 0), limits.longestSide)
    limits.thumbnailSide = min(max(thumbnailSide, 1), 2732)
    limits.bestQuality = min(max(bestQuality, 1), 100)
    limits.worstQuality = min(max(worstQuality, 1), limits.bestQuality)
    limits.thumbnailQuality = min(max(thumbnailQuality, 1), 100)
    limits.scans = max(scans, 1)
    // The size of the encoder's buffer.
    limits.outputBytes = min(max(outputBytes, 0), 100_000_000)
    return limits
  }
}
