import CHEIF
import CPixels
import Messages
import Photos

/// Decodes the primary picture of a HEIC file with libheif, which also crops, turns and mirrors it. Its EXIF
/// orientation is then already applied.
final class HEIFDecoder: PhotoDecoder {
  let metadata: Metadata
  let size: PixelSize
  let samples: SampleKind
  let orientation = Orientation.upright
  private let context: OpaquePointer
  private let handle: OpaquePointer

  init(_ photo: PhotoView, limits: PhotoLimits) throws(DeliveryError) {
    let structure = HEIFStructure(of: photo.bytes)
    guard structure.items <= limits.items else {
      throw DeliveryError(
        .imageLimits,
        "this HEIC lists \(structure.items) items, more than \(limits.items); save it again as an ordinary photo")
    }
    guard let context = heif_context_alloc() else { throw .tooMuchMemory("HEIC", limits) }
    var handle: OpaquePointer?
    do throws(DeliveryError) {
      heif_context_set_max_decoding_threads(context, 0)
      try HEIFLibrary.check(
        heif_context_read_from_memory_without_copy(context, photo.memory.baseAddress, photo.memory.count, nil), limits)
      try HEIFLibrary.check(heif_context_get_primary_image_handle(context, &handle), limits)
      guard let handle else { throw .cutOff("HEIC") }
      size = PixelSize(
        width: Int(heif_image_handle_get_width(handle)), height: Int(heif_image_handle_get_height(handle)))
      try limits.check(size)
      // The decoder works on the picture before cropping.
      let stored = PixelSize(
        width: Int(heif_image_handle_get_ispe_width(handle)), height: Int(heif_image_handle_get_ispe_height(handle)))
      try limits.check(stored)
      // libheif's memory per pixel: planes twice, and red, green and blue with alpha.
      let bytes = max(size.pixels, stored.pixels) * (heif_image_handle_has_alpha_channel(handle) != 0 ? 8 : 5)
      guard bytes <= limits.decoderBytes else { throw .tooMuchMemory("HEIC", limits) }
    } catch {
      if let handle { heif_image_handle_release(handle) }
      heif_context_free(context)
      throw error
    }
    guard let handle else { throw .cutOff("HEIC") }
    (self.context, self.handle) = (context, handle)
    let colors = HEIFLibrary.namedColors(of: handle)
    // The library converts pictures with alpha, and matrices that are not weighted sums.
    let encoding = heif_image_handle_has_alpha_channel(handle) != 0 ? nil : colors.encoding
    samples = encoding.map { .ycc($0) } ?? .rgb
    var metadata = structure.metadata
    metadata.namedColors = colors.named
    HEIFLibrary.read(&metadata, of: handle, in: context)
    self.metadata = metadata
  }

  deinit {
    heif_image_handle_release(handle)
    heif_context_free(context)
  }

  func planes(
    size target: PixelSize, orientation: Orientation, halvesChroma: Bool, limits: PhotoLimits
  ) throws(DeliveryError) -> [Plane] {
    let isRGB = samples == .rgb
    guard let options = heif_decoding_options_alloc() else { throw .tooMuchMemory("HEIC", limits) }
    defer { heif_decoding_options_free(options) }
    options.pointee.convert_hdr_to_8bit = 1
    options.pointee.strict_decoding = 1
    var decoded: OpaquePointer?
    try HEIFLibrary.check(
      heif_decode_image(
        handle, &decoded, isRGB ? heif_colorspace_RGB : heif_colorspace_YCbCr,
        isRGB ? heif_chroma_interleaved_RGBA : heif_chroma_420, options), limits)
    guard let image = decoded else { throw .cutOff("HEIC") }
    defer { heif_image_release(image) }
    guard heif_image_get_primary_width(image) == size.width, heif_image_get_primary_height(image) == size.height else {
      throw .damaged("HEIC", "its picture does not have the size in its header")
    }
    return try isRGB
      ? pixels(of: image, target, orientation, halvesChroma) : components(of: image, target, orientation, halvesChroma)
  }

  private func pixels(
    of image: OpaquePointer, _ target: PixelSize, _ orientation: Orientation, _ halvesChroma: Bool
  ) throws(DeliveryError) -> [Plane] {
    var stride: Int32 = 0
    guard let samples = heif_image_get_plane_readonly(image, heif_channel_interleaved, &stride) else {
      throw .damaged("HEIC", "it has no pixels")
    }
    let component = Component(size: size, extent: PlaneResampler.Extent(of: size))
    let bank = ResamplerBank(
      [component, component, component], target: target, orientation: orientation, halvesChroma: halvesChroma)
    let isMultiplied = heif_image_handle_is_premultiplied_alpha(handle) != 0
    bank.feedTogether { y, rows in
      let row = samples + y * Int(stride)
      if isMultiplied {
        putOnWhite(row, into: rows)
      } else {
        cpixels_split(row, 4, rows, Int32(size.width))
      }
    }
    return bank.planes
  }

  /// Puts premultiplied colours on white.
  private func putOnWhite(_ pixels: UnsafePointer<UInt8>, into rows: UnsafePointer<UnsafeMutablePointer<UInt8>?>) {
    for color in 0..<3 {
      guard let row = rows[color] else { continue }
      for x in 0..<size.width {
        row[x] = UInt8(min(255, Int(pixels[4 * x + color]) + 255 - Int(pixels[4 * x + 3])))
      }
    }
  }

  private func components(
    of image: OpaquePointer, _ target: PixelSize, _ orientation: Orientation, _ halvesChroma: Bool
  ) throws(DeliveryError) -> [Plane] {
    let full = Component(size: size, extent: PlaneResampler.Extent(of: size))
    let half = Component(size: size.halved, extent: PlaneResampler.Extent(of: size, dividedBy: 2))
    let bank = ResamplerBank(
      [full, half, half], target: target, orientation: orientation, halvesChroma: halvesChroma)
    for (index, channel) in [heif_channel_Y, heif_channel_Cb, heif_channel_Cr].enumerated() {
      var stride: Int32 = 0
      let width = index == 0 ? size.width : size.halved.width
      let height = index == 0 ? size.height : size.halved.height
      guard let samples = heif_image_get_plane_readonly(image, channel, &stride),
        heif_image_get_width(image, channel) >= width, heif_image_get_height(image, channel) >= height,
        heif_image_get_bits_per_pixel(image, channel) == 8
      else { throw .damaged("HEIC", "its planes do not have the size in its header") }
      bank.feed(index) { y, row in row.update(from: samples + y * Int(stride), count: width) }
    }
    return bank.planes
  }
}
