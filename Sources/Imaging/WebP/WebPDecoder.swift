import CWebP
import Messages
import Photos

/// Decodes a WebP with libwebp: to luma and chroma if stored so, otherwise to RGB on white. An animation
/// gives its first frame.
final class WebPDecoder: PhotoDecoder {
  let metadata: Metadata
  let size: PixelSize
  private let photo: UnsafeBufferPointer<UInt8>
  private let features: WebPBitstreamFeatures

  var orientation: Orientation { metadata.exif?.orientation ?? .upright }
  var samples: SampleKind { .ycc(isPlain ? .video : .jfif) }
  private var hasAlpha: Bool { features.has_alpha != 0 }

  /// Lossy, still and opaque: luma and chroma can be used unchanged.
  private var isPlain: Bool { features.format == 1 && !hasAlpha && features.has_animation == 0 }

  init(_ photo: PhotoView, limits: PhotoLimits) throws(DeliveryError) {
    var features = WebPBitstreamFeatures()
    let status = WebPGetFeatures(photo.memory.baseAddress, photo.memory.count, &features)
    guard status == VP8_STATUS_OK else { throw Self.error(status, limits) }
    size = PixelSize(width: Int(features.width), height: Int(features.height))
    try limits.check(size)
    // An animation needs two canvases; a lossless picture is held as it is decoded.
    let bytes = size.pixels * (features.has_animation != 0 ? 8 : 4)
    guard bytes <= limits.decoderBytes else { throw .tooMuchMemory("WebP", limits) }
    self.features = features
    self.photo = photo.memory
    metadata = WebPStructure(of: photo.bytes).metadata
  }

  func planes(
    size target: PixelSize, orientation: Orientation, halvesChroma: Bool, limits: PhotoLimits
  ) throws(DeliveryError) -> [Plane] {
    if features.has_animation != 0 { return try firstFrame(target, orientation, limits) }
    let scaled = scaledSize(for: target)
    var config = WebPDecoderConfig()
    guard WebPInitDecoderConfig(&config) != 0 else { throw .damaged("WebP", "libwebp is another one") }
    config.output.colorspace = isPlain ? MODE_YUV : hasAlpha ? MODE_RGBA : MODE_RGB
    if scaled != size {
      config.options.use_scaling = 1
      (config.options.scaled_width, config.options.scaled_height) = (Int32(scaled.width), Int32(scaled.height))
    }
    let status = WebPDecode(photo.baseAddress, photo.count, &config)
    defer { WebPFreeDecBuffer(&config.output) }
    guard status == VP8_STATUS_OK else { throw Self.error(status, limits) }
    if isPlain { return components(config.output.u.YUVA, scaled, target, orientation) }
    let pixels = config.output.u.RGBA
    return planes(
      pixels.rgba, stride: Int(pixels.stride), channels: hasAlpha ? 4 : 3, of: scaled, target, orientation)
  }

  /// A whole fraction of the size with twice the target's pixels or more, as for a JPEG. The library scales while it
  /// decodes, in a few rows of memory.
  private func scaledSize(for target: PixelSize) -> PixelSize {
    let divisor = max(1, min(size.width / (2 * target.width), size.height / (2 * target.height)))
    return PixelSize(width: (size.width + divisor - 1) / divisor, height: (size.height + divisor - 1) / divisor)
  }

  private func components(
    _ planes: WebPYUVABuffer, _ scaled: PixelSize, _ target: PixelSize, _ orientation: Orientation
  ) -> [Plane] {
    let full = Component(size: scaled, extent: PlaneResampler.Extent(of: scaled))
    // The library scales the chroma of a whole number of samples, of which the picture may cover half of the last one.
    func covered(_ stored: Int, _ scaled: Int) -> Double {
      Double(stored) / 2 * Double((scaled + 1) / 2) / Double((stored + 1) / 2)
    }
    let half = Component(
      size: scaled.halved,
      extent: PlaneResampler.Extent(x: covered(size.width, scaled.width), y: covered(size.height, scaled.height)))
    let bank = ResamplerBank([full, half, half], target: target, orientation: orientation, halvesChroma: true)
    for (index, plane) in [(planes.y, planes.y_stride), (planes.u, planes.u_stride), (planes.v, planes.v_stride)]
      .enumerated()
    {
      let width = index == 0 ? scaled.width : scaled.halved.width
      bank.feed(index) { y, row in
        if let samples = plane.0 { row.update(from: samples + y * Int(plane.1), count: width) }
      }
    }
    return bank.planes
  }

  private func firstFrame(
    _ target: PixelSize, _ orientation: Orientation, _ limits: PhotoLimits
  ) throws(DeliveryError) -> [Plane] {
    var data = WebPData(bytes: photo.baseAddress, size: photo.count)
    guard let decoder = WebPAnimDecoderNew(&data, nil) else { throw .damaged("WebP", "its frames make no sense") }
    defer { WebPAnimDecoderDelete(decoder) }
    var pixels: UnsafeMutablePointer<UInt8>?
    var time: Int32 = 0
    guard WebPAnimDecoderGetNext(decoder, &pixels, &time) != 0 else {
      throw .damaged("WebP", "its first frame makes no sense")
    }
    return planes(pixels, stride: 4 * size.width, channels: 4, of: size, target, orientation)
  }

  private func planes(
    _ pixels: UnsafeMutablePointer<UInt8>?, stride: Int, channels: Int, of size: PixelSize, _ target: PixelSize,
    _ orientation: Orientation
  ) -> [Plane] {
    let bank = ResamplerBank(ofPixels: size, target: target, orientation: orientation)
    guard let pixels else { return bank.planes }
    bank.feedPixels(channels: channels) { y in
      let row = UnsafePointer(pixels + y * stride)
      return (row, y + 1 < size.height ? row + stride : row)
    }
    return bank.planes
  }

  private static func error(_ status: VP8StatusCode, _ limits: PhotoLimits) -> DeliveryError {
    switch status {
    case VP8_STATUS_NOT_ENOUGH_DATA, VP8_STATUS_SUSPENDED: .cutOff("WebP")
    case VP8_STATUS_OUT_OF_MEMORY: .tooMuchMemory("WebP", limits)
    case VP8_STATUS_UNSUPPORTED_FEATURE:
      DeliveryError(.unsupportedImage, "this WebP has a feature that libwebp does not know; save it as a JPEG")
    default: .damaged("WebP", "its data make no sense")
    }
  }
}
