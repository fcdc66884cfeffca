/// What a photo may cost, and what becomes of it.
package struct PhotoLimits: Sendable, Hashable, Codable {
  /// The largest photo that is looked at, in bytes.
  package var inputBytes = 10_000_000
  /// Width times height of the photo as it is stored.
  package var pixels = 100_000_000
  /// Scans of a progressive photo; an honest one has ten.
  package var scans = 100
  /// Pixels times scans, which is what a progressive photo costs: 1.5 thousand million take one or two seconds.
  package var pixelScans = 1_500_000_000
  /// Pictures, tiles and descriptions that a HEIC file may list; those of telephones list fifty to two hundred.
  package var items = 2000
  /// Memory for a decoder, in bytes. A progressive photo needs two to six bytes for each pixel.
  package var decoderBytes = 512 << 20
  /// The longer side of what is sent, in pixels: 1 to 2732. Smaller photos are never enlarged.
  package var longestSide = 2048
  /// The side of the square that is cut out of the middle, in pixels; 0 leaves the photo whole. The square is never
  /// enlarged.
  package var squareSide = 0
  /// The largest JPEG that is sent, in bytes; one of exactly this size is sent.
  package var outputBytes = 999_999
  /// The JPEG quality to begin with, 1 to 100.
  package var bestQuality = 85
  /// The JPEG quality below which the photo is made smaller instead.
  package var worstQuality = 50
  /// The longer side of the thumbnail, in pixels.
  package var thumbnailSide = 300
  /// The JPEG quality of the thumbnail.
  package var thumbnailQuality = 80

  package init() {}

  /// The same limits with every number brought into the range that makes sense of it.
  package var sane: PhotoLimits {
    var limits = self
    limits.longestSide = min(max(longestSide, 1), 2732)
    limits.squareSide = min(max(squareSide, 0), limits.longestSide)
    limits.thumbnailSide = min(max(thumbnailSide, 1), 2732)
    limits.bestQuality = min(max(bestQuality, 1), 100)
    limits.worstQuality = min(max(worstQuality, 1), limits.bestQuality)
    limits.thumbnailQuality = min(max(thumbnailQuality, 1), 100)
    limits.scans = max(scans, 1)
    // The encoder is given a buffer of this size.
    limits.outputBytes = min(max(outputBytes, 0), 100_000_000)
    return limits
  }
}
