import CJPEG
import Messages
import Photos

/// Decodes a JPEG with libjpeg, at the smallest sufficient scale, into its stored components.
final class JPEGDecoder: PhotoDecoder {
  let metadata: Metadata
  private let photo: UnsafeBufferPointer<UInt8>
  private let decoder: OpaquePointer
  private let header: cjpeg_header
  private let hiddenTransform: UInt8?

  var size: PixelSize { PixelSize(width: Int(header.width), height: Int(header.height)) }
  var orientation: Orientation { metadata.exif?.orientation ?? .upright }

  var samples: SampleKind {
    switch header.color {
    case CJPEG_GREY: .grey
    case CJPEG_RGB: .rgb
    // With Adobe's marker, inks are stored inverted.
    case CJPEG_CMYK: hiddenTransform == 2 ? .ycck : .cmyk(isInverted: header.adobe || hiddenTransform != nil)
    case CJPEG_YCCK: .ycck
    default: .ycc(.jfif)
    }
  }

  init(_ photo: PhotoView, limits: PhotoLimits) throws(DeliveryError) {
    let structure = JPEGStructure(of: photo.bytes)
    try structure.check(limits)
    metadata = Metadata(ofJPEG: photo.bytes, structure: structure)
    hiddenTransform = structure.hiddenTransform
    let photo = photo.memory
    guard
      let decoder = cjpeg_decoder_open(
        photo.baseAddress, photo.count, max(0, limits.decoderBytes), Int32(clamping: limits.scans))
    else {
      throw DeliveryError(.imageLimits, "there is no memory to decode this photo; try again when there is")
    }
    var header = cjpeg_header()
    let status = cjpeg_decoder_read_header(decoder, &header)
    guard status == CJPEG_OK else {
      defer { cjpeg_decoder_close(decoder) }
      throw JPEGDecoder.error(status, of: decoder, limits)
    }
    self.photo = photo
    self.decoder = decoder
    self.header = header
  }

  deinit { cjpeg_decoder_close(decoder) }

  func copy(limits: PhotoLimits) -> [UInt8]? {
    guard case .fits(let jpeg) = JPEGEncoder.copy(photo, limits: limits) else { return nil }
    return jpeg
  }

  func planes(
    size target: PixelSize, orientation: Orientation, halvesChroma: Bool, limits: PhotoLimits
  ) throws(DeliveryError) -> [Plane] {
    try check(cjpeg_decoder_start(decoder, Int32(eighths(for: target))), limits)
    let components = (0..<Int(header.components)).map { index in
      let component = cjpeg_decoder_component(decoder, Int32(index))
      return Component(
        size: PixelSize(width: Int(component.width), height: Int(component.height)),
        extent: PlaneResampler.Extent(x: component.extent_x, y: component.extent_y),
        batchRows: Int(component.batch_rows), rowBytes: Int(component.row_bytes))
    }
    let bank = ResamplerBank(components, target: target, orientation: orientation, halvesChroma: halvesChroma)
    while !bank.isComplete {
      try check(Self.read(decoder, into: bank.resamplers), limits)
      for resampler in bank.resamplers { resampler.takeBatch() }
    }
    return bank.planes
  }

  /// The smallest scale with nearly twice the target's width and height for which libjpeg has vector code: a telephone's 48
  /// megapixels are halved. A nearer scale would lose up to a hundredth of structural similarity in noisy photos.
  private func eighths(for target: PixelSize) -> Int {
    let scales = [1, 2, 4].first { scale in
      size.width * scale >= 15 * target.width && size.height * scale >= 15 * target.height
    }
    return scales ?? 8
  }

  private static func read(_ decoder: OpaquePointer, into resamplers: [PlaneResampler]) -> cjpeg_status {
    let rows = resamplers.map(\.batchRows)
    return withUnsafeTemporaryAllocation(of: UnsafeMutablePointer<UInt8>?.self, capacity: rows.reduce(0, +)) { all in
      withUnsafeTemporaryAllocation(
        of: UnsafeMutablePointer<UnsafeMutablePointer<UInt8>?>?.self, capacity: resamplers.count
      ) { components in
        var start = 0
        for (index, resampler) in resamplers.enumerated() {
          for row in 0..<rows[index] { all[start + row] = resampler.nextRow(row) }
          components[index] = all.baseAddress.map { $0 + start }
          start += rows[index]
        }
        return cjpeg_decoder_read(decoder, components.baseAddress)
      }
    }
  }

  private func check(_ status: cjpeg_status, _ limits: PhotoLimits) throws(DeliveryError) {
    guard status == CJPEG_OK else { throw Self.error(status, of: decoder, limits) }
  }

  private static func error(_ status: cjpeg_status, of decoder: OpaquePointer, _ limits: PhotoLimits) -> DeliveryError {
    let message = String(cString: cjpeg_decoder_message(decoder))
    return switch status {
    case CJPEG_TRUNCATED: .cutOff("JPEG")
    case CJPEG_DAMAGED: .damaged("JPEG", message)
    case CJPEG_TOO_MUCH_MEMORY: .tooMuchMemory("JPEG", limits)
    case CJPEG_TOO_MANY_SCANS:
      DeliveryError(.imageLimits, "this JPEG has more than \(limits.scans) scans; save it again as an ordinary JPEG")
    default:
      DeliveryError(.unsupportedImage, "this JPEG cannot be decoded (\(message)); save it again as an ordinary JPEG")
    }
  }
}
