import Messages

/// Prepares JPEG photos: bounds from the header first, then the cheapest way to an upright, small, bare JPEG in sRGB.
public struct JPEGPreparer: Sendable {
  private let limits: PhotoLimits

  public init(limits: PhotoLimits) { self.limits = limits }

  /// Prepares one photo on the calling thread, which it blocks.
  public func prepare(_ bytes: [UInt8]) throws(DeliveryError) -> PreparedPhoto {
    let frame = try checkedFrame(of: bytes)
    let structure = frame.structure
    let metadata = JPEGMetadata(bytes, structure)
    let orientation = metadata.exif.orientation
    let original = OriginalPhoto(
      format: .jpeg, bytes: bytes.count, width: frame.width, height: frame.height, orientation: orientation)

    let source: ColourConversion.Source? =
      metadata.profile.map { .profile($0) } ?? (metadata.exif.isAdobeRGB ? .adobeRGB : nil)
    // Only colours that need a conversion are decoded to RGB; all others stay the YCbCr that they are stored in.
    let isColour = frame.components == 3
    let conversion = isColour ? source.flatMap { ColourConversion($0, from: .probe) } : nil
    let converts = conversion.map { !$0.isIdentity } ?? false

    if orientation == 1, max(frame.width, frame.height) <= limits.longestSide, !converts, frame.components != 4,
      let copy = try copied(bytes, structure, metadata)
    {
      let small = try decode(bytes, frame, within: limits.thumbnailSide, asRGB: false)
      return PreparedPhoto(
        jpeg: copy, width: frame.width, height: frame.height, thumbnail: try thumbnail(of: small), quality: nil,
        original: original, stripped: metadata.names)
    }

    var pixels = try decode(bytes, frame, within: limits.longestSide, asRGB: converts)
    let size = fit(frame.width, frame.height, within: limits.longestSide)
    pixels = try pixels.resampled(to: size.width, size.height)
    if pixels.colour == .cmyk {
      if let source, let inks = ColourConversion(source, from: pixels) {
        pixels = inks.converted(pixels)
      } else {
        pixels = pixels.plainRGBFromCMYK()
      }
    } else if converts, let conversion {
      pixels = conversion.converted(pixels)
    }
    pixels = pixels.upright(orientation)
    let (jpeg, quality, sent) = try encoded(pixels)
    return PreparedPhoto(
      jpeg: jpeg, width: sent.width, height: sent.height, thumbnail: try thumbnail(of: pixels), quality: quality,
      original: original, stripped: metadata.names)
  }

  // MARK: Bounds

  private struct CheckedFrame {
    let structure: JPEGStructure
    let width: Int
    let height: Int
    let components: Int
  }

  private func checkedFrame(of bytes: [UInt8]) throws(DeliveryError) -> CheckedFrame {
    if bytes.count > limits.inputBytes {
      throw DeliveryError(
        .imageLimits, "the photo has \(bytes.count) bytes; the limit is \(limits.inputBytes); make it smaller")
    }
    guard let format = PhotoFormat(of: bytes) else {
      throw DeliveryError(.unsupportedImage, "this is not an image that photospool knows; send a JPEG")
    }
    if format != .jpeg {
      throw DeliveryError(
        .unsupportedImage, "this is a \(format.rawValue.uppercased()) file; only JPEG can be sent, so convert it")
    }
    let structure = JPEGStructure(bytes)
    guard let frame = structure.frame else {
      throw DeliveryError(.truncatedImage, "the JPEG ends before its picture begins; copy it again")
    }
    let kind: String? =
      switch frame.marker {
      case 0xc3, 0xc7, 0xcb, 0xcf: "a lossless JPEG"
      case 0xc9...0xce: "an arithmetic-coded JPEG"
      case 0xc5, 0xc6: "a hierarchical JPEG"
      default: frame.precision == 8 ? nil : "a JPEG of \(frame.precision) bits"
      }
    if let kind {
      throw DeliveryError(.unsupportedImage, "this is \(kind), which few programs show; save it as an ordinary JPEG")
    }
    guard frame.width > 0, frame.height > 0, [1, 3, 4].contains(frame.components) else {
      throw DeliveryError(.unsupportedImage, "the JPEG's header makes no sense; save it as an ordinary JPEG")
    }
    if frame.width * frame.height > limits.pixels {
      throw DeliveryError(
        .imageLimits,
        "the photo has \(frame.width)x\(frame.height) pixels; the limit is \(limits.pixels) in all; make it smaller")
    }
    if structure.scans > limits.scans {
      throw DeliveryError(
        .imageLimits, "the JPEG has \(structure.scans) scans; the limit is \(limits.scans); save it as an ordinary JPEG"
      )
    }
    return CheckedFrame(
      structure: structure, width: frame.width, height: frame.height, components: frame.components)
  }

  // MARK: Decoding and encoding

  /// The picture without loss, when it fits as it is; nil when it does not.
  private func copied(
    _ bytes: [UInt8], _ structure: JPEGStructure, _ metadata: JPEGMetadata
  ) throws(DeliveryError) -> [UInt8]? {
    // libjpeg copies coefficients of a file that ends early without a word.
    guard structure.hasEnd, metadata.isYCbCrOrGrey else { return nil }
    let copy = try JPEGCodec.copy(bytes, limits: limits)
    return copy.count <= limits.outputBytes ? copy : nil
  }

  /// Decodes at the smallest scale that still covers `side`.
  private func decode(
    _ bytes: [UInt8], _ frame: CheckedFrame, within side: Int, asRGB: Bool
  ) throws(DeliveryError) -> Pixels {
    let target = fit(frame.width, frame.height, within: side)
    let eighths = (1...8).first { scale in
      (frame.width * scale + 7) / 8 >= target.width && (frame.height * scale + 7) / 8 >= target.height
    }
    return try JPEGCodec.decode(bytes, eighths: eighths ?? 8, asRGB: asRGB, limits: limits)
  }

  private func thumbnail(of pixels: Pixels) throws(DeliveryError) -> [UInt8] {
    let size = pixels.size(within: limits.thumbnailSide)
    return try JPEGCodec.encode(pixels.resampled(to: size.width, size.height), quality: Self.thumbnailQuality)
  }

  private static let thumbnailQuality = 80

  /// The JPEG at the best quality that fits, or smaller at the worst.
  private func encoded(_ pixels: Pixels) throws(DeliveryError) -> (jpeg: [UInt8], quality: Int, sent: Pixels) {
    var pixels = pixels
    var quality = limits.bestQuality
    while true {
      let jpeg = try JPEGCodec.encode(pixels, quality: quality)
      if jpeg.count <= limits.outputBytes { return (jpeg, quality, pixels) }
      let excess = Double(jpeg.count) / Double(limits.outputBytes)
      if quality > limits.worstQuality {
        quality = max(limits.worstQuality, Self.quality(below: quality, shrinkingBy: excess))
      } else {
        // Bytes grow with the area, a little slower: aim somewhat lower, so that one more encoding does.
        let side = Int(Double(max(pixels.width, pixels.height)) / excess.squareRoot() * 0.95)
        guard side >= 16 else {
          throw DeliveryError(
            .tooLargeAfterCompress, "the photo stays above \(limits.outputBytes) bytes however small it is made")
        }
        let size = pixels.size(within: side)
        pixels = try pixels.resampled(to: size.width, size.height)
      }
    }
  }

  /// The quality at which the file should be smaller by the factor `excess`: a photo's bytes fall about with the square
  /// root of libjpeg's quantisation scale, which is 200 - 2 × quality from 50 upwards.
  private static func quality(below quality: Int, shrinkingBy excess: Double) -> Int {
    let scale = Double(quality >= 50 ? 200 - 2 * quality : 5_000 / max(1, quality))
    let wanted = scale * (excess * excess) * 1.02
    let predicted = wanted <= 100 ? (200 - wanted) / 2 : 5_000 / wanted
    return min(quality - 1, Int(predicted))
  }
}

extension Pixels {
  /// Stands for RGB pixels where only their kind matters.
  fileprivate static var probe: Pixels {
    Pixels(width: 0, height: 0, channels: 3, colour: .rgb, isInverted: false, samples: [])
  }
}
