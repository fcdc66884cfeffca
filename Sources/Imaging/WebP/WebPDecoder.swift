import CPixels
import CWebP
import Messages
import Photos

/// Decodes a WebP with libwebp: to luma and chroma if stored so, otherwise to RGB on white. An animation gives its
/// first frame.
final class WebPDecoder: PhotoDecoder {
  let metadata: Metadata
  let size: PixelSize
  private let photo: UnsafeBufferPointer<UInt8>
  private let features: WebPBitstreamFeatures

  var orientation: Orientation { metadata.exif?.orientation ?? .upright }
  var samples: SampleKind { isPlain ? .ycc(.video) : .rgb }

  /// Lossy, still and opaque: luma and chroma can be used unchanged.
  private var isPlain: Bool { features.format == 1 && features.has_alpha == 0 && features.has_animation == 0 }

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
    let full = Component(size: size, extent: PlaneResampler.Extent(of: size))
    let half = Component(size: size.halved, extent: PlaneResampler.Extent(of: size, dividedBy: 2))
    let bank = ResamplerBank(
      isPlain ? [full, half, half] : [full, full, full], target: target, orientation: orientation,
      halvesChroma: halvesChroma)
    if features.has_animation != 0 {
      try feedFirstFrame(to: bank, limits)
    } else {
      try feedPicture(to: bank, limits)
    }
    return bank.planes
  }

  private func feedPicture(to bank: ResamplerBank, _ limits: PhotoLimits) throws(DeliveryError) {
    var config = WebPDecoderConfig()
    guard WebPInitDecoderConfig(&config) != 0 else { throw .damaged("WebP", "libwebp is another one") }
    config.output.colorspace = isPlain ? MODE_YUV : MODE_RGBA
    let status = WebPDecode(photo.baseAddress, photo.count, &config)
    defer { WebPFreeDecBuffer(&config.output) }
    guard status == VP8_STATUS_OK else { throw Self.error(status, limits) }
    if isPlain {
      let planes = config.output.u.YUVA
      for (index, plane) in [(planes.y, planes.y_stride), (planes.u, planes.u_stride), (planes.v, planes.v_stride)]
        .enumerated()
      {
        let width = index == 0 ? size.width : size.halved.width
        bank.feed(index) { y, row in
          if let samples = plane.0 { row.update(from: samples + y * Int(plane.1), count: width) }
        }
      }
    } else {
      let pixels = config.output.u.RGBA
      feed(pixels.rgba, stride: Int(pixels.stride), to: bank)
    }
  }

  private func feedFirstFrame(to bank: ResamplerBank, _ limits: PhotoLimits) throws(DeliveryError) {
    var data = WebPData(bytes: photo.baseAddress, size: photo.count)
    guard let decoder = WebPAnimDecoderNew(&data, nil) else { throw .damaged("WebP", "its frames make no sense") }
    defer { WebPAnimDecoderDelete(decoder) }
    var pixels: UnsafeMutablePointer<UInt8>?
    var time: Int32 = 0
    guard WebPAnimDecoderGetNext(decoder, &pixels, &time) != 0 else {
      throw .damaged("WebP", "its first frame makes no sense")
    }
    feed(pixels, stride: 4 * size.width, to: bank)
  }

  private func feed(_ pixels: UnsafeMutablePointer<UInt8>?, stride: Int, to bank: ResamplerBank) {
    guard let pixels else { return }
    bank.feedTogether { y, rows in cpixels_split(pixels + y * stride, 4, rows, Int32(size.width)) }
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
