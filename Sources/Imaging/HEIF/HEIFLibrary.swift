import CHEIF
import CPixels
import Messages
import Photos

/// A picture that libheif decodes, puts together, converts to RGB, crops, turns and mirrors: overlays, and what has
/// alpha or colours of a rare kind.
final class HEIFLibrary {
  /// The size of the turned picture.
  let size: PixelSize
  private let name: String
  private let context: OpaquePointer
  private let handle: OpaquePointer

  /// Loads the library's decoders, while the process may still read files.
  static func prepare() { _ = heif_init(nil) }

  /// - Parameter item: the picture; nil for the primary one.
  init(_ photo: PhotoView, item: Int?, name: String, limits: PhotoLimits) throws(DeliveryError) {
    guard let context = heif_context_alloc() else { throw .tooMuchMemory(name, limits) }
    var handle: OpaquePointer?
    do throws(DeliveryError) {
      heif_context_set_max_decoding_threads(context, 0)
      try Self.check(
        heif_context_read_from_memory_without_copy(context, photo.memory.baseAddress, photo.memory.count, nil), name,
        limits)
      let isFound = item.map {
        heif_context_get_image_handle(context, heif_item_id($0), &handle).code == heif_error_Ok
      }
      if isFound != true { try Self.check(heif_context_get_primary_image_handle(context, &handle), name, limits) }
      guard let handle else { throw .cutOff(name) }
      size = PixelSize(
        width: Int(heif_image_handle_get_width(handle)), height: Int(heif_image_handle_get_height(handle)))
      try limits.check(size)
      // The decoder works on the picture before cropping.
      let stored = PixelSize(
        width: Int(heif_image_handle_get_ispe_width(handle)), height: Int(heif_image_handle_get_ispe_height(handle)))
      try limits.check(stored)
      // Planes of the codec and of the library, and red, green and blue with alpha, twice.
      let bytes = max(size.pixels, stored.pixels) * (heif_image_handle_get_luma_bits_per_pixel(handle) > 8 ? 16 : 8)
      guard bytes <= limits.decoderBytes else { throw .tooMuchMemory(name, limits) }
    } catch {
      if let handle { heif_image_handle_release(handle) }
      heif_context_free(context)
      throw error
    }
    guard let handle else { throw .cutOff(name) }
    (self.context, self.handle, self.name) = (context, handle, name)
  }

  deinit {
    heif_image_handle_release(handle)
    heif_context_free(context)
  }

  func planes(
    size target: PixelSize, orientation: Orientation, halvesChroma: Bool, limits: PhotoLimits
  ) throws(DeliveryError) -> [Plane] {
    guard let options = heif_decoding_options_alloc() else { throw .tooMuchMemory(name, limits) }
    defer { heif_decoding_options_free(options) }
    options.pointee.convert_hdr_to_8bit = 1
    options.pointee.strict_decoding = 1
    var decoded: OpaquePointer?
    try Self.check(
      heif_decode_image(handle, &decoded, heif_colorspace_RGB, heif_chroma_interleaved_RGBA, options), name, limits)
    guard let image = decoded else { throw .cutOff(name) }
    defer { heif_image_release(image) }
    guard heif_image_get_primary_width(image) == size.width, heif_image_get_primary_height(image) == size.height else {
      throw .damaged(name, "its picture does not have the size in its header")
    }
    var stride: Int32 = 0
    guard let samples = heif_image_get_plane_readonly(image, heif_channel_interleaved, &stride) else {
      throw .damaged(name, "it has no pixels")
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

  private static func check(_ error: heif_error, _ name: String, _ limits: PhotoLimits) throws(DeliveryError) {
    guard error.code != heif_error_Ok else { return }
    let words = Self.words(of: error)
    switch (error.code, error.subcode) {
    case (_, heif_suberror_End_of_data): throw .cutOff(name)
    case (_, heif_suberror_Security_limit_exceeded), (heif_error_Memory_allocation_error, _):
      throw .tooMuchMemory(name, limits)
    case (heif_error_Unsupported_filetype, _), (heif_error_Unsupported_feature, _), (_, heif_suberror_No_item_data):
      throw .notDecoded(name, words)
    default: throw .damaged(name, words)
    }
  }

  /// The library's message on one line; some end with a line break, and some quote the file.
  private static func words(of error: heif_error) -> String {
    guard let message = error.message else { return "error \(error.code.rawValue)" }
    let shown = String(cString: message).unicodeScalars.filter {
      ![.control, .format, .lineSeparator, .paragraphSeparator].contains($0.properties.generalCategory)
    }
    return String(String.UnicodeScalarView(shown.prefix(200)))
  }
}
