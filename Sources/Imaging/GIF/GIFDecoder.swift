import Messages
import Photos

/// Decodes the first frame of a GIF, on a screen that is at least as large as the frame. Uncovered and transparent
/// areas are white.
final class GIFDecoder: PhotoDecoder {
  let metadata: Metadata
  let size: PixelSize
  let orientation = Orientation.upright
  let samples = SampleKind.rgb
  private let photo: [UInt8]
  private let frame: GIFStructure.Frame

  init(_ photo: PhotoView, limits: PhotoLimits) throws(DeliveryError) {
    let structure = GIFStructure(of: photo.bytes)
    guard let screen = structure.size else { throw .cutOff("GIF") }
    guard let frame = structure.frame else {
      try limits.check(screen)
      guard structure.isWhole else { throw .cutOff("GIF") }
      throw DeliveryError(.unsupportedImage, "this GIF has no picture; send another one")
    }
    try limits.check(frame.size)
    // Like most viewers, a frame that runs over the screen makes it larger.
    size = PixelSize(
      width: max(screen.width, frame.left + frame.size.width),
      height: max(screen.height, frame.top + frame.size.height))
    try limits.check(size)
    guard frame.size.pixels <= limits.decoderBytes else { throw .tooMuchMemory("GIF", limits) }
    (self.photo, self.frame) = (photo.bytes, frame)
    metadata = structure.metadata
  }

  func planes(
    size target: PixelSize, orientation: Orientation, halvesChroma: Bool, limits: PhotoLimits
  ) throws(DeliveryError) -> [Plane] {
    let indices = try GIFCodes(photo, at: frame.data).indices(count: frame.size.pixels)
    let colors = Self.colors(of: frame, indices)
    let places = Self.places(of: frame)
    let component = Component(size: size, extent: PlaneResampler.Extent(of: size))
    let bank = ResamplerBank(
      [component, component, component], target: target, orientation: orientation, halvesChroma: halvesChroma)
    let (frame, width) = (frame, size.width)
    bank.feedTogether { y, rows in
      guard let red = rows[0], let green = rows[1], let blue = rows[2] else { return }
      for row in [red, green, blue] { row.update(repeating: 255, count: width) }
      guard (frame.top..<frame.top + frame.size.height).contains(y) else { return }
      let start = places[y - frame.top] * frame.size.width
      for x in 0..<frame.size.width {
        let index = Int(indices[start + x])
        guard index != frame.transparent else { continue }
        (red[frame.left + x], green[frame.left + x], blue[frame.left + x]) = colors[index]
      }
    }
    return bank.planes
  }

  /// White beyond the table. Without a table they are greys, of which the last one used is white.
  private static func colors(of frame: GIFStructure.Frame, _ indices: [UInt8]) -> [(UInt8, UInt8, UInt8)] {
    guard let table = frame.colors else {
      let last = max(1, Int(indices.max() ?? 1))
      return (0...255).map { index in
        let grey = UInt8(min(255, index * 255 / last))
        return (grey, grey, grey)
      }
    }
    return (0...255).map { index in
      guard let red = table.byte(at: 3 * index), let green = table.byte(at: 3 * index + 1),
        let blue = table.byte(at: 3 * index + 2)
      else { return (255, 255, 255) }
      return (red, green, blue)
    }
  }

  /// The place of each row among the stored ones.
  private static func places(of frame: GIFStructure.Frame) -> [Int] {
    let height = frame.size.height
    guard frame.isInterlaced else { return Array(0..<height) }
    let stored = [(0, 8), (4, 8), (2, 4), (1, 2)].flatMap { Array(stride(from: $0, to: height, by: $1)) }
    var places = [Int](repeating: 0, count: height)
    for (place, row) in stored.enumerated() { places[row] = place }
    return places
  }
}
