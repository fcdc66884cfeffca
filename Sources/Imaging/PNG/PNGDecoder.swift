import CPNG
import CPixels
import Messages
import Photos

/// Decodes a PNG with libpng, row by row, on white.
final class PNGDecoder: PhotoDecoder {
  let metadata: Metadata
  let size: PixelSize
  private let decoder: OpaquePointer
  private let channels: Int

  var orientation: Orientation { metadata.exif?.orientation ?? .upright }
  var samples: SampleKind { channels < 3 ? .grey : .rgb }

  init(_ photo: PhotoView, limits: PhotoLimits) throws(DeliveryError) {
    var structure = PNGStructure(of: photo.bytes)
    guard let size = structure.size, structure.hasPicture else { throw .cutOff("PNG") }
    try limits.check(size)
    guard let decoder = cpng_open(photo.memory.baseAddress, photo.memory.count) else {
      throw .tooMuchMemory("PNG", limits)
    }
    var header = cpng_header()
    let status = cpng_read_header(decoder, &header)
    guard status == CPNG_OK, header.width == size.width, header.height == size.height else {
      defer { cpng_close(decoder) }
      if status == CPNG_OK { throw .damaged("PNG", "it has two headers") }
      throw Self.error(status, of: decoder, limits)
    }
    if let profile = header.profile {
      structure.take(profile: Array(UnsafeBufferPointer(start: profile, count: header.profile_count)))
    }
    self.size = size
    self.decoder = decoder
    metadata = structure.metadata
    channels = Int(header.channels)
  }

  deinit { cpng_close(decoder) }

  func planes(
    size target: PixelSize, orientation: Orientation, halvesChroma: Bool, limits: PhotoLimits
  ) throws(DeliveryError) -> [Plane] {
    let component = Component(size: size, extent: PlaneResampler.Extent(of: size))
    let bank = ResamplerBank(
      Array(repeating: component, count: channels < 3 ? 1 : 3), target: target, orientation: orientation,
      halvesChroma: halvesChroma)
    let pixels = UnsafeMutablePointer<UInt8>.allocate(capacity: size.width * channels)
    defer { pixels.deallocate() }
    try bank.feedTogether { (_, rows) throws(DeliveryError) in
      let status = cpng_read_row(decoder, limits.decoderBytes, pixels)
      guard status == CPNG_OK else { throw Self.error(status, of: decoder, limits) }
      cpixels_split(pixels, Int32(channels), rows, Int32(size.width))
    }
    return bank.planes
  }

  private static func error(_ status: cpng_status, of decoder: OpaquePointer, _ limits: PhotoLimits) -> DeliveryError {
    switch status {
    case CPNG_TRUNCATED: .cutOff("PNG")
    case CPNG_TOO_MUCH_MEMORY: .tooMuchMemory("PNG", limits)
    default: .damaged("PNG", String(cString: cpng_message(decoder)))
    }
  }
}
