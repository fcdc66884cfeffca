import CDE265
import Messages
import Photos

/// A picture of an HEVC still, decoded by libde265 in the calling thread.
final class HEVCPicture: CodedPicture {
  private let decoder: UnsafeMutableRawPointer
  private let picture: OpaquePointer

  init(_ item: HEIFItems.Item, name: String, limits: PhotoLimits) throws(DeliveryError) {
    guard let configuration = item.property("hvcC"), let sizes = configuration.byte(at: 21) else {
      throw .damaged(name, "its picture has no configuration")
    }
    guard let decoder = de265_new_decoder() else { throw .tooMuchMemory(name, limits) }
    do throws(DeliveryError) {
      try Self.push(parameterSets: configuration, to: decoder, name: name, limits: limits)
      try Self.push(item.bytes, lengthBytes: Int(sizes & 3) + 1, to: decoder, name: name, limits: limits)
      picture = try Self.decode(decoder, name: name, limits: limits)
    } catch {
      de265_free_decoder(decoder)
      throw error
    }
    self.decoder = decoder
  }

  deinit { de265_free_decoder(decoder) }

  var bits: Int { Int(de265_get_bits_per_pixel(picture, 0)) }

  var stream: CodedColors {
    CodedColors(
      matrix: Int(de265_get_image_matrix_coefficients(picture)),
      isFullRange: de265_get_image_full_range_flag(picture) != 0)
  }

  func size(_ plane: Int) -> PixelSize? {
    guard plane == 0 || de265_get_chroma_format(picture) != de265_chroma_mono,
      (bits > 8) == (de265_get_bits_per_pixel(picture, Int32(plane)) > 8)
    else { return nil }
    return PixelSize(
      width: Int(de265_get_image_width(picture, Int32(plane))),
      height: Int(de265_get_image_height(picture, Int32(plane))))
  }

  func row(_ y: Int, of plane: Int) -> UnsafeRawPointer? {
    var stride: Int32 = 0
    return de265_get_image_plane(picture, Int32(plane), &stride).map { UnsafeRawPointer($0) + y * Int(stride) }
  }

  /// Arrays of units, each with its length in two bytes.
  private static func push(
    parameterSets configuration: ByteReader, to decoder: UnsafeMutableRawPointer, name: String, limits: PhotoLimits
  ) throws(DeliveryError) {
    var offset = 23
    for _ in 0..<Int(configuration.byte(at: 22) ?? 0) {
      guard let count = configuration.uint16(at: offset + 1) else { throw .cutOff(name) }
      offset += 3
      for _ in 0..<count {
        guard let length = configuration.uint16(at: offset) else { throw .cutOff(name) }
        let unit = configuration.part(at: offset + 2, count: length)
        try push(Array(unit.bytes[unit.range])[...], to: decoder, name: name, limits: limits)
        offset += 2 + length
      }
    }
  }

  private static func push(
    _ data: [UInt8], lengthBytes: Int, to decoder: UnsafeMutableRawPointer, name: String, limits: PhotoLimits
  ) throws(DeliveryError) {
    let reader = ByteReader(data, data.indices)
    var offset = 0
    while offset < data.count {
      guard let length = reader.number(at: offset, length: lengthBytes), length <= data.count - offset - lengthBytes
      else { throw .cutOff(name) }
      let start = offset + lengthBytes
      try push(data[start..<start + length], to: decoder, name: name, limits: limits)
      offset = start + length
    }
  }

  private static func push(
    _ unit: ArraySlice<UInt8>, to decoder: UnsafeMutableRawPointer, name: String, limits: PhotoLimits
  ) throws(DeliveryError) {
    try check(
      unit.withUnsafeBytes { de265_push_NAL(decoder, $0.baseAddress, Int32($0.count), 0, nil) }, name, limits)
  }

  private static func decode(
    _ decoder: UnsafeMutableRawPointer, name: String, limits: PhotoLimits
  ) throws(DeliveryError) -> OpaquePointer {
    try check(de265_flush_data(decoder), name, limits)
    var more: Int32 = 1
    while more != 0 {
      more = 0
      try check(de265_decode(decoder, &more), name, limits)
      if let picture = de265_peek_next_picture(decoder) { return picture }
    }
    throw .damaged(name, "it has no picture")
  }

  private static func check(_ error: de265_error, _ name: String, _ limits: PhotoLimits) throws(DeliveryError) {
    switch error {
    case DE265_OK: return
    case DE265_ERROR_OUT_OF_MEMORY: throw .tooMuchMemory(name, limits)
    case DE265_ERROR_WAITING_FOR_INPUT_DATA: throw .damaged(name, "it has no picture")
    case DE265_ERROR_NOT_IMPLEMENTED_YET: throw .notDecoded(name, "its coding is not known to libde265")
    default: throw .damaged(name, de265_get_error_text(error).map { String(cString: $0) } ?? "error \(error.rawValue)")
    }
  }
}
