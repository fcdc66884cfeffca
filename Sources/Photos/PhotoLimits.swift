/// What a photo may be as it comes in, and has to be as it goes out.
public struct PhotoLimits: Sendable, Hashable, Codable {
  /// Bytes of a photo as dropped.
  public var inputBytes = 10_000_000
  /// Pixels of a photo as dropped, from its header.
  public var pixels = 100_000_000
  /// Scans of a progressive JPEG. Honest files have about ten; each costs a pass over the whole picture.
  public var scans = 100
  /// Bytes that the decoder may use for itself: a progressive photo at the limit of pixels needs 300 MB.
  public var decoderMemory = 400_000_000
  /// Pixels of the longer side of what is sent, 1 to 2732.
  public var longestSide = 2048
  /// Bytes of what is sent, this number included.
  public var outputBytes = 999_999
  /// The JPEG quality that is tried first, 1 to 100.
  public var bestQuality = 85
  /// The JPEG quality below which the photo is made smaller instead.
  public var worstQuality = 50
  /// Pixels of the longer side of the thumbnail.
  public var thumbnailSide = 300

  public init() {}
}
