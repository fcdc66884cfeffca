import CDav1d
import Glibc
import Messages
import Photos

/// A picture of an AV1 still, decoded by dav1d in the calling thread.
final class AV1Picture: CodedPicture {
  private var picture = Dav1dPicture()

  init(_ item: HEIFItems.Item, name: String, limits: PhotoLimits) throws(DeliveryError) {
    var settings = Dav1dSettings()
    dav1d_default_settings(&settings)
    // Photos share the processors already.
    settings.n_threads = 1
    settings.max_frame_delay = 1
    settings.all_layers = 0
    settings.frame_size_limit = UInt32(clamping: limits.pixels)
    settings.logger.callback = nil
    var decoder: OpaquePointer?
    guard dav1d_open(&decoder, &settings) == 0 else { throw .tooMuchMemory(name, limits) }
    defer { dav1d_close(&decoder) }
    // The sequence header may stand in the configuration alone.
    let header = item.property("av1C").map { Array($0.dropFirst(4).bytes[$0.dropFirst(4).range]) } ?? []
    var data = Dav1dData()
    let bytes = header + item.bytes
    guard let copy = dav1d_data_create(&data, bytes.count) else { throw .tooMuchMemory(name, limits) }
    copy.update(from: bytes, count: bytes.count)
    defer { dav1d_data_unref(&data) }
    try Self.decode(&data, decoder, into: &picture, name: name, limits: limits)
  }

  deinit { dav1d_picture_unref(&picture) }

  private static func decode(
    _ data: inout Dav1dData, _ decoder: OpaquePointer?, into picture: inout Dav1dPicture, name: String,
    limits: PhotoLimits
  ) throws(DeliveryError) {
    var isDrained = false
    while true {
      if data.sz > 0 {
        let result = dav1d_send_data(decoder, &data)
        guard result == 0 || result == -EAGAIN else { throw failure(result, name, limits) }
      } else {
        // With no data left, a second request for a picture drains the decoder.
        if isDrained { throw .damaged(name, "it has no picture") }
        isDrained = true
      }
      let result = dav1d_get_picture(decoder, &picture)
      if result == 0 { return }
      guard result == -EAGAIN else { throw failure(result, name, limits) }
    }
  }

  private static func failure(_ result: Int32, _ name: String, _ limits: PhotoLimits) -> DeliveryError {
    switch -result {
    case ENOMEM: .tooMuchMemory(name, limits)
    case ERANGE:
      DeliveryError(
        .imageLimits, "the picture of this \(name) has more than \(limits.pixels) pixels; send a smaller copy of it")
    default: .damaged(name, "its AV1 data make no sense")
    }
  }

  var bits: Int { Int(picture.p.bpc) }

  var stream: CodedColors {
    guard let header = picture.seq_hdr?.pointee else { return CodedColors(matrix: 2, isFullRange: true) }
    return CodedColors(matrix: Int(header.mtrx.rawValue), isFullRange: header.color_range != 0)
  }

  func size(_ plane: Int) -> PixelSize? {
    var size = PixelSize(width: Int(picture.p.w), height: Int(picture.p.h))
    if plane > 0 {
      switch picture.p.layout {
      case DAV1D_PIXEL_LAYOUT_I400: return nil
      case DAV1D_PIXEL_LAYOUT_I420: size = size.halved
      case DAV1D_PIXEL_LAYOUT_I422: size.width = size.halved.width
      default: break
      }
    }
    return size
  }

  func row(_ y: Int, of plane: Int) -> UnsafeRawPointer? {
    let (data, stride) = (picture.data, picture.stride)
    let start = plane == 0 ? data.0 : plane == 1 ? data.1 : data.2
    return start.map { UnsafeRawPointer($0) + y * (plane == 0 ? stride.0 : stride.1) }
  }
}
