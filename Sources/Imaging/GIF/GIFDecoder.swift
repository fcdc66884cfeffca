import CGIF
import Messages
import Photos

/// Decodes the first frame of a GIF with giflib. Uncovered and transparent areas are white.
final class GIFDecoder: PhotoDecoder {
  let metadata: Metadata
  let size: PixelSize
  let orientation = Orientation.upright
  let samples = SampleKind.rgb
  private let photo: UnsafeBufferPointer<UInt8>

  init(_ photo: PhotoView, limits: PhotoLimits) throws(DeliveryError) {
    let structure = GIFStructure(of: photo.bytes)
    guard let size = structure.size else { throw .cutOff("GIF") }
    try limits.check(size)
    guard structure.frames > 0 else {
      guard structure.isWhole else { throw .cutOff("GIF") }
      throw DeliveryError(.unsupportedImage, "this GIF has no picture; send another one")
    }
    self.size = size
    self.photo = photo.memory
    metadata = structure.metadata
  }

  func planes(
    size target: PixelSize, orientation: Orientation, halvesChroma: Bool, limits: PhotoLimits
  ) throws(DeliveryError) -> [Plane] {
    let frame = try GIFFrame(photo, limits: limits)
    let component = Component(size: size, extent: PlaneResampler.Extent(of: size))
    let bank = ResamplerBank(
      [component, component, component], target: target, orientation: orientation, halvesChroma: halvesChroma)
    bank.feedTogether { y, rows in frame.draw(row: y, width: size.width, into: rows) }
    return bank.planes
  }
}

/// A decoded frame: colour indices and colours.
private struct GIFFrame {
  private var left = 0
  private var top = 0
  private var width = 0
  private var height = 0
  private var indices: [UInt8] = []
  private var transparent: Int32 = -1
  private var colors = [GifColorType](repeating: GifColorType(Red: 255, Green: 255, Blue: 255), count: 256)

  /// The position of a reader in memory.
  private struct Cursor {
    let bytes: UnsafeBufferPointer<UInt8>
    var offset = 0
  }

  init(_ photo: UnsafeBufferPointer<UInt8>, limits: PhotoLimits) throws(DeliveryError) {
    var cursor = Cursor(bytes: photo)
    self = try withUnsafeMutablePointer(to: &cursor) { cursor throws(DeliveryError) in
      var error: Int32 = 0
      let file = DGifOpen(
        cursor,
        { file, into, count in
          guard let cursor = file?.pointee.UserData?.assumingMemoryBound(to: Cursor.self), let into, count > 0 else {
            return 0
          }
          let rest = cursor.pointee.bytes[cursor.pointee.offset...].prefix(Int(count))
          into.update(from: UnsafeBufferPointer(rebasing: rest).baseAddress ?? UnsafePointer(into), count: rest.count)
          cursor.pointee.offset += rest.count
          return Int32(rest.count)
        }, &error)
      guard let file else { throw Self.failure(error, limits) }
      defer { DGifCloseFile(file, nil) }
      return try GIFFrame(first: file, limits: limits)
    }
  }

  private init(first file: UnsafeMutablePointer<GifFileType>, limits: PhotoLimits) throws(DeliveryError) {
    while true {
      var kind = UNDEFINED_RECORD_TYPE
      try Self.check(DGifGetRecordType(file, &kind), file, limits)
      switch kind {
      case EXTENSION_RECORD_TYPE: try readExtension(file, limits)
      case IMAGE_DESC_RECORD_TYPE:
        try readImage(file, limits)
        return
      case TERMINATE_RECORD_TYPE: throw .cutOff("GIF")
      default: continue
      }
    }
  }

  private mutating func readExtension(
    _ file: UnsafeMutablePointer<GifFileType>, _ limits: PhotoLimits
  ) throws(DeliveryError) {
    var code: Int32 = 0
    var part: UnsafeMutablePointer<GifByteType>?
    try Self.check(DGifGetExtension(file, &code, &part), file, limits)
    while let found = part {
      var control = GraphicsControlBlock()
      if code == GRAPHICS_EXT_FUNC_CODE, DGifExtensionToGCB(Int(found[0]), found + 1, &control) == GIF_OK {
        transparent = control.TransparentColor
      }
      try Self.check(DGifGetExtensionNext(file, &part), file, limits)
    }
  }

  private mutating func readImage(
    _ file: UnsafeMutablePointer<GifFileType>, _ limits: PhotoLimits
  ) throws(DeliveryError) {
    try Self.check(DGifGetImageDesc(file), file, limits)
    let image = file.pointee.Image
    (left, top, width, height) = (Int(image.Left), Int(image.Top), Int(image.Width), Int(image.Height))
    try limits.check(PixelSize(width: width, height: height))
    guard let map = image.ColorMap ?? file.pointee.SColorMap, let first = map.pointee.Colors else {
      throw .damaged("GIF", "it has no colours")
    }
    for index in 0..<min(256, Int(map.pointee.ColorCount)) { colors[index] = first[index] }
    indices = [UInt8](repeating: 0, count: width * height)
    for y in Self.rows(height, isInterlaced: image.Interlace) {
      let result = indices.withUnsafeMutableBufferPointer { indices in
        DGifGetLine(file, indices.baseAddress.map { $0 + y * width }, Int32(width))
      }
      try Self.check(result, file, limits)
    }
  }

  /// The order of the stored rows.
  private static func rows(_ height: Int, isInterlaced: Bool) -> [Int] {
    guard isInterlaced else { return Array(0..<height) }
    return [(0, 8), (4, 8), (2, 4), (1, 2)].flatMap { Array(stride(from: $0, to: height, by: $1)) }
  }

  func draw(row y: Int, width screen: Int, into rows: UnsafePointer<UnsafeMutablePointer<UInt8>?>) {
    guard let red = rows[0], let green = rows[1], let blue = rows[2] else { return }
    for row in [red, green, blue] { row.update(repeating: 255, count: screen) }
    guard (top..<top + height).contains(y) else { return }
    for x in max(0, left)..<max(0, left, min(screen, left + width)) {
      let index = Int(indices[(y - top) * width + x - left])
      guard index != transparent else { continue }
      (red[x], green[x], blue[x]) = (colors[index].Red, colors[index].Green, colors[index].Blue)
    }
  }

  private static func check(
    _ result: Int32, _ file: UnsafeMutablePointer<GifFileType>, _ limits: PhotoLimits
  ) throws(DeliveryError) {
    if result != GIF_OK { throw failure(file.pointee.Error, limits) }
  }

  private static func failure(_ error: Int32, _ limits: PhotoLimits) -> DeliveryError {
    switch error {
    case D_GIF_ERR_READ_FAILED, D_GIF_ERR_EOF_TOO_SOON: .cutOff("GIF")
    case D_GIF_ERR_NOT_ENOUGH_MEM: .tooMuchMemory("GIF", limits)
    default: .damaged("GIF", GifErrorString(error).map { String(cString: $0) } ?? "error \(error)")
    }
  }
}
