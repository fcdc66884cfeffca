import Messages
import Photos

/// Prepares photos: opens, decodes at the smallest sufficient size, turns upright, converts to sRGB, encodes. A pure
/// function without state, files or clocks, for any number of threads.
package struct Preparer: Sendable {
  package init() {}

  /// Prepares one photo. It blocks, so it needs its own thread.
  ///
  /// - Throws: a `DeliveryError` with one of these causes: `unsupported_image`, not a picture, or one of a kind that is
  ///   not decoded, which the sentence names; `truncated_image`, missing or damaged parts; `image_limits`, beyond
  ///   `limits` in bytes, pixels, scans, items or memory; `too_large_after_compress`, no size of it fits into
  ///   `limits.outputBytes`.
  package func prepare(_ photo: [UInt8], limits: PhotoLimits = PhotoLimits()) throws(DeliveryError) -> PreparedPhoto {
    let limits = limits.sane
    return try photo.withUnsafeBufferPointer { memory throws(DeliveryError) in
      let decoder = try PhotoFormat.open(PhotoView(bytes: photo, memory: memory), limits: limits)
      return try Preparation(
        decoder: decoder, format: PhotoFormat(of: photo) ?? .jpeg, bytes: photo.count, limits: limits
      )
      .run()
    }
  }
}

/// The work on one photo.
private struct Preparation {
  let decoder: any PhotoDecoder
  let format: PhotoFormat
  let bytes: Int
  let limits: PhotoLimits

  func run() throws(DeliveryError) -> PreparedPhoto {
    let rendering = ColorRendering(samples: decoder.samples, transform: transform)
    if let kept = try keep(rendering) { return kept }
    // If `keep` returns nothing, it has not started the decoder.
    let whole = decoder.orientation.turned(decoder.size)
    let picture =
      limits.squareSide > 0
      ? try picture(rendering, size: whole.covering(limits.squareSide)).middleSquare
      : try picture(rendering, size: whole.fitted(into: limits.longestSide))
    let found = try SizeSearch(limits: limits).fit(picture)
    return try prepared(found.jpeg, size: found.size, from: picture, quality: found.quality, rendering)
  }

  /// Keeps the photo's own data if the picture needs no change; nil otherwise.
  private func keep(_ rendering: ColorRendering) throws(DeliveryError) -> PreparedPhoto? {
    let size = decoder.size
    guard rendering.isPlain, decoder.orientation == .upright, size.longer <= limits.longestSide,
      limits.squareSide == 0 || size.isSquare && size.longer <= limits.squareSide,
      let jpeg = decoder.copy(limits: limits)
    else { return nil }
    let small = try picture(rendering, size: size.fitted(into: limits.thumbnailSide))
    return try prepared(jpeg, size: size, from: small, quality: nil, rendering)
  }

  private func picture(_ rendering: ColorRendering, size: PixelSize) throws(DeliveryError) -> Picture {
    let orientation = decoder.orientation
    let stored = orientation.turned(size)
    let planes = try decoder.planes(
      size: stored, orientation: orientation, halvesChroma: rendering.samples.halvesChroma, limits: limits)
    // Decoding may show that the samples have another range than the file says.
    let rendering = ColorRendering(samples: decoder.samples, transform: rendering.transform)
    return Picture(size: size, planes: rendering.render(planes, size: stored), orientation: orientation)
  }

  /// The embedded profile, or else the colours that the file names.
  private var transform: ColorTransform? {
    let pixels = decoder.samples.pixels
    var transform = decoder.metadata.profile.flatMap { ColorTransform(profile: $0, of: pixels) }
    if transform == nil { transform = decoder.metadata.namedColors.flatMap { ColorTransform(of: $0, pixels) } }
    return transform?.changesNothing == true ? nil : transform
  }

  private func prepared(
    _ jpeg: [UInt8], size: PixelSize, from picture: Picture, quality: Int?, _ rendering: ColorRendering
  ) throws(DeliveryError) -> PreparedPhoto {
    let small = picture.resized(to: picture.size.fitted(into: limits.thumbnailSide))
    var stripped = decoder.metadata.names
    if decoder.metadata.mentionsProfile {
      stripped.append(rendering.transform == nil ? "colour profile" : "colour profile (converted)")
    }
    return PreparedPhoto(
      jpeg: jpeg, width: size.width, height: size.height, thumbnail: try encodeSmall(small),
      blurred: try encodeSmall(small.blurred), blurhash: Blurhash(of: small).text, quality: quality,
      original: OriginalPhoto(
        format: format, bytes: bytes, width: decoder.size.width, height: decoder.size.height,
        orientation: decoder.orientation.rawValue),
      stripped: stripped)
  }

  private func encodeSmall(_ picture: Picture) throws(DeliveryError) -> [UInt8] {
    var limits = limits
    limits.bestQuality = limits.thumbnailQuality
    limits.worstQuality = min(limits.worstQuality, limits.thumbnailQuality)
    return try SizeSearch(limits: limits).fit(picture).jpeg
  }
}
