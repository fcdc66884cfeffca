import CJPEG
import Messages

/// Prepares JPEG photos: inspects, decodes as small as will do, turns upright, renders to sRGB, encodes.
///
/// A pure function of its arguments, without state, files or clocks. It may run in several threads at once.
public struct JPEGPreparer: Sendable {
  public init() {}

  /// Prepares one photo. It blocks for as long as the work takes, so it belongs on a thread of its own.
  ///
  /// - Throws: a `DeliveryError` with one of these causes:
  ///   `unsupported_image`, no JPEG, or one of a kind that is not decoded; the sentence names it.
  ///   `truncated_image`, part of the picture is missing or damaged.
  ///   `image_limits`, it is larger than `limits` allow, in bytes, pixels, scans or memory.
  ///   `too_large_after_compress`, no size of it fits into `limits.outputBytes`.
  public func prepare(_ photo: [UInt8], limits: PhotoLimits = PhotoLimits()) throws(DeliveryError) -> PreparedPhoto {
    let limits = limits.sane
    let inspection = try JPEGInspection(of: photo, limits: limits)
    return try photo.withUnsafeBufferPointer { bytes throws(DeliveryError) in
      try Darkroom(photo: bytes, inspection: inspection, limits: limits).prepare()
    }
  }
}

/// The work on one photo.
private struct Darkroom {
  let photo: UnsafeBufferPointer<UInt8>
  let inspection: JPEGInspection
  let limits: PhotoLimits

  func prepare() throws(DeliveryError) -> PreparedPhoto {
    let decoder = try JPEGDecoder(photo, limits: limits)
    let rendering = rendering(of: decoder)
    if let kept = try keep(decoder, rendering) { return kept }
    // The decoder was not started by `keep` when it gives nothing.
    let upright = inspection.orientation.turned(inspection.size).fitted(into: limits.longestSide)
    let picture = try picture(of: decoder, rendering, size: upright)
    let found = try SizeSearch(limits: limits).fit(picture)
    let thumbnail = try thumbnail(of: picture)
    return prepared(
      found.jpeg, size: found.size, thumbnail: thumbnail, quality: found.quality, rendering: rendering)
  }

  /// Keeps the photo's own data when nothing about the picture has to change; nil when something has to.
  private func keep(_ decoder: JPEGDecoder, _ rendering: ColorRendering) throws(DeliveryError) -> PreparedPhoto? {
    let size = inspection.size
    guard rendering.isPlain, inspection.orientation == .upright, size.longer <= limits.longestSide,
      case .fits(let jpeg) = JPEGEncoder.copy(photo, limits: limits)
    else { return nil }
    let small = try picture(of: decoder, rendering, size: size.fitted(into: limits.thumbnailSide))
    return prepared(jpeg, size: size, thumbnail: try thumbnail(of: small), quality: nil, rendering: rendering)
  }

  private func picture(
    of decoder: JPEGDecoder, _ rendering: ColorRendering, size: PixelSize
  ) throws(DeliveryError) -> Picture {
    let orientation = inspection.orientation
    let stored = orientation.turned(size)
    let planes = try decoder.planes(
      size: stored, orientation: orientation, halvesChroma: rendering.halvesChroma, limits: limits)
    return Picture(size: size, planes: rendering.render(planes, size: stored), orientation: orientation)
  }

  private func thumbnail(of picture: Picture) throws(DeliveryError) -> [UInt8] {
    var limits = limits
    limits.bestQuality = limits.thumbnailQuality
    limits.worstQuality = min(limits.worstQuality, limits.thumbnailQuality)
    let small = picture.resized(to: picture.size.fitted(into: limits.thumbnailSide))
    return try SizeSearch(limits: limits).fit(small).jpeg
  }

  /// The embedded profile counts first, then what the camera says.
  private func rendering(of decoder: JPEGDecoder) -> ColorRendering {
    let pixels: ColorTransform.Pixels =
      switch decoder.color {
      case CJPEG_GREY: .grey
      case CJPEG_CMYK, CJPEG_YCCK: .cmyk
      default: .rgb
      }
    var transform = inspection.metadata.profile.flatMap { ColorTransform(profile: $0, of: pixels) }
    if transform == nil, pixels == .rgb, inspection.metadata.exif?.isAdobeRGB == true {
      transform = ColorTransform(adobeRGB: ())
    }
    return ColorRendering(
      color: decoder.color, isInverted: decoder.isAdobe,
      transform: transform?.changesNothing == true ? nil : transform)
  }

  private func prepared(
    _ jpeg: [UInt8], size: PixelSize, thumbnail: [UInt8], quality: Int?, rendering: ColorRendering
  ) -> PreparedPhoto {
    var stripped = inspection.metadata.names
    if inspection.metadata.mentionsProfile {
      stripped.append(rendering.transform == nil ? "colour profile" : "colour profile (converted)")
    }
    return PreparedPhoto(
      jpeg: jpeg, width: size.width, height: size.height, thumbnail: thumbnail, quality: quality,
      isLossless: quality == nil,
      original: OriginalPhoto(
        format: .jpeg, bytes: photo.count, width: inspection.size.width, height: inspection.size.height,
        orientation: inspection.orientation.rawValue),
      stripped: stripped)
  }
}
