import CJPEG
import Messages

/// libjpeg's decoder of one photo, whose bytes must stay in place meanwhile. It gives components as they are stored.
final class JPEGDecoder {
  private let decoder: OpaquePointer
  private let header: cjpeg_header

  var size: PixelSize { PixelSize(width: Int(header.width), height: Int(header.height)) }
  var components: Int { Int(header.components) }
  var color: cjpeg_color { header.color }
  /// The Adobe marker is there: CMYK is stored inverted.
  var isAdobe: Bool { header.adobe }

  init(_ photo: UnsafeBufferPointer<UInt8>, limits: PhotoLimits) throws(DeliveryError) {
    guard
      let decoder = cjpeg_decoder_open(
        photo.baseAddress, photo.count, max(0, limits.decoderBytes), Int32(clamping: limits.scans))
    else {
      throw DeliveryError(.imageLimits, "there is no memory to decode this photo; try again when there is")
    }
    var header = cjpeg_header()
    let status = cjpeg_decoder_read_header(decoder, &header)
    guard status == CJPEG_OK else {
      let message = String(cString: cjpeg_decoder_message(decoder))
      cjpeg_decoder_close(decoder)
      throw DeliveryError(decoding: status, message: message, limits: limits)
    }
    self.decoder = decoder
    self.header = header
  }

  deinit { cjpeg_decoder_close(decoder) }

  /// Decodes all components to planes for a picture of `size`, mirrored as `orientation` asks and not yet transposed.
  ///
  /// - Parameter halvesChroma: the second and third plane are made for a picture of half the width and height.
  func planes(
    size target: PixelSize, orientation: Orientation, halvesChroma: Bool, limits: PhotoLimits
  ) throws(DeliveryError) -> [Plane] {
    try check(cjpeg_decoder_start(decoder, Int32(eighths(for: target))), limits)
    var resamplers: [PlaneResampler] = []
    for index in 0..<components {
      let component = cjpeg_decoder_component(decoder, Int32(index))
      let isHalved = halvesChroma && (1...2).contains(index)
      let divisor: Double = isHalved ? 2 : 1
      let geometry = PlaneResampler.Geometry(
        source: PixelSize(width: Int(component.width), height: Int(component.height)),
        sourceExtent: PlaneResampler.Extent(x: component.extent_x, y: component.extent_y),
        target: isHalved ? target.halved : target,
        targetExtent: PlaneResampler.Extent(x: Double(target.width) / divisor, y: Double(target.height) / divisor),
        orientation: orientation)
      resamplers.append(
        PlaneResampler(
          geometry, batchRows: Int(component.batch_rows), rowBytes: Int(component.row_bytes),
          sibling: resamplers.last))
    }
    while resamplers.contains(where: { !$0.isComplete }) {
      try check(Self.read(decoder, into: resamplers), limits)
      for resampler in resamplers { resampler.takeBatch() }
    }
    return resamplers.map(\.plane)
  }

  /// The smallest scale that still covers the target, of those for which libjpeg has vector code: it is faster to
  /// decode at 8/8 and filter down than to decode at 5/8.
  private func eighths(for target: PixelSize) -> Int {
    let scales = [1, 2, 4].first { scale in
      (size.width * scale + 7) / 8 >= target.width && (size.height * scale + 7) / 8 >= target.height
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
    guard status != CJPEG_OK else { return }
    throw DeliveryError(
      decoding: status, message: String(cString: cjpeg_decoder_message(decoder)), limits: limits)
  }
}

extension DeliveryError {
  fileprivate init(decoding status: cjpeg_status, message: String, limits: PhotoLimits) {
    switch status {
    case CJPEG_TRUNCATED:
      self.init(.truncatedImage, "this JPEG ends before its picture does; send the whole file")
    case CJPEG_DAMAGED:
      self.init(.truncatedImage, "this JPEG is damaged (\(message)); send it again from the original")
    case CJPEG_TOO_MUCH_MEMORY:
      self.init(
        .imageLimits,
        "decoding this JPEG would take more than \(limits.decoderBytes) bytes of memory; send a smaller one")
    case CJPEG_TOO_MANY_SCANS:
      self.init(
        .imageLimits, "this JPEG has more than \(limits.scans) scans; save it again as an ordinary JPEG")
    default:
      self.init(.unsupportedImage, "this JPEG cannot be decoded (\(message)); save it again as an ordinary JPEG")
    }
  }
}
