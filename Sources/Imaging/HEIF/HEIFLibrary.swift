import CHEIF
import Messages
import Photos

/// libheif's errors and metadata.
enum HEIFLibrary {
  /// Loads the library's decoders, while the process may still read files.
  static func prepare() { _ = heif_init(nil) }

  static func check(_ error: heif_error, _ limits: PhotoLimits) throws(DeliveryError) {
    guard error.code != heif_error_Ok else { return }
    let words = Self.words(of: error)
    switch (error.code, error.subcode) {
    case (_, heif_suberror_End_of_data): throw .cutOff("HEIC")
    case (_, heif_suberror_Security_limit_exceeded), (heif_error_Memory_allocation_error, _):
      throw .tooMuchMemory("HEIC", limits)
    case (heif_error_Unsupported_filetype, _), (heif_error_Unsupported_feature, _):
      throw DeliveryError(.unsupportedImage, "this HEIC is of a kind that is not decoded (\(words)); save it as a JPEG")
    default: throw .damaged("HEIC", words)
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

  /// Colours from numbers of H.273. `encoding` is nil if only the library can convert them to RGB.
  static func namedColors(of handle: OpaquePointer) -> (named: NamedColors?, encoding: YCCEncoding?) {
    var found: UnsafeMutablePointer<heif_color_profile_nclx>?
    guard heif_image_handle_get_nclx_color_profile(handle, &found).code == heif_error_Ok, let found else {
      // The default of JPEG, which telephones without numbers mean.
      return (nil, .jfif)
    }
    defer { heif_nclx_color_profile_free(found) }
    let colors = found.pointee
    return (
      NamedColors(
        primaries: Int(colors.color_primaries.rawValue), transfer: Int(colors.transfer_characteristics.rawValue)),
      YCCEncoding(matrix: Int(colors.matrix_coefficients.rawValue), isFullRange: colors.full_range_flag != 0)
    )
  }

  /// Records the profile, the metadata, and further pictures.
  static func read(_ metadata: inout Metadata, of handle: OpaquePointer, in context: OpaquePointer) {
    let size = heif_image_handle_get_raw_color_profile_size(handle)
    if size > 0, size <= Metadata.profileLimit {
      var profile = [UInt8](repeating: 0, count: size)
      if heif_image_handle_get_raw_color_profile(handle, &profile).code == heif_error_Ok {
        metadata.readProfile(profile)
      }
    }
    for block in blocks(of: handle) { read(&metadata, block, of: handle) }
    if heif_image_handle_get_number_of_thumbnails(handle) > 0 { metadata.add("embedded thumbnail") }
    let others =
      heif_context_get_number_of_top_level_images(context) > 1
      || heif_image_handle_get_number_of_auxiliary_images(handle, withoutAlpha) > 0
      || heif_image_handle_get_number_of_depth_images(handle) > 0
    if others { metadata.add("second picture") }
  }

  /// LIBHEIF_AUX_IMAGE_FILTER_OMIT_ALPHA, a macro that Swift does not import.
  private static let withoutAlpha: Int32 = 1 << 1

  private static func blocks(of handle: OpaquePointer) -> [heif_item_id] {
    let count = heif_image_handle_get_number_of_metadata_blocks(handle, nil)
    var blocks = [heif_item_id](repeating: 0, count: max(0, Int(count)))
    let found = heif_image_handle_get_list_of_metadata_block_IDs(handle, nil, &blocks, Int32(blocks.count))
    return Array(blocks.prefix(max(0, Int(found))))
  }

  private static func read(_ metadata: inout Metadata, _ block: heif_item_id, of handle: OpaquePointer) {
    let size = heif_image_handle_get_metadata_size(handle, block)
    guard size > 0, size <= Metadata.profileLimit,
      let kind = heif_image_handle_get_metadata_type(handle, block).map({ String(cString: $0) })
    else { return }
    var bytes = [UInt8](repeating: 0, count: size)
    guard heif_image_handle_get_metadata(handle, block, &bytes).code == heif_error_Ok else { return }
    let contents = ByteReader(bytes, bytes.indices)
    switch kind {
    case "Exif":
      // Four bytes give the offset of the block.
      metadata.readExif(contents.dropFirst(4 + min(contents.uint32(at: 0) ?? 0, size)))
    case "mime" where contents.contains("adobe:ns:meta"): metadata.readXMP(contents)
    default: metadata.add("application data")
    }
  }
}
