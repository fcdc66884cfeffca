import CPixels
import Messages
import Photos

/// Decodes the tiles of a picture row by row and feeds them to the resamplers, so that memory follows the tiles.
final class HEIFFeed {
  private let plan: HEIFPlan
  private let layout: HEIFLayout
  private let name: String
  private let limits: PhotoLimits
  private(set) var samples: SampleKind
  /// The first tile, if it is decoded already.
  private var first: (any CodedPicture)?
  /// Samples of luma, and those outside of the range that the file declares.
  private var counted = 0
  private var outside = 0
  /// Rows of alpha.
  private var upper: [UInt8]
  private var lower: [UInt8]

  init(
    _ plan: HEIFPlan, _ layout: HEIFLayout, first: (any CodedPicture)?, samples: SampleKind, name: String,
    limits: PhotoLimits
  ) {
    (self.plan, self.layout, self.first, self.samples) = (plan, layout, first, samples)
    (self.name, self.limits) = (name, limits)
    upper = [UInt8](repeating: 0, count: layout.tile.width)
    lower = upper
  }

  func planes(size target: PixelSize, orientation: Orientation, halvesChroma: Bool) throws(DeliveryError) -> [Plane] {
    let components = (0..<3).map { plane in
      let shared = sharing(plane)
      let extent = PlaneResampler.Extent(
        x: Double(plan.window.size.width) / Double(shared.width),
        y: Double(plan.window.size.height) / Double(shared.height))
      return Component(size: plan.window.size.shared(by: shared), extent: extent, batchRows: 1)
    }
    let bank = ResamplerBank(components, target: target, orientation: orientation, halvesChroma: halvesChroma)
    // Without luma the planes are green, blue and red.
    let order = samples == .rgb ? [1, 2, 0] : [0, 1, 2]
    for row in 0..<layout.rows where overlaps(row) {
      let tiles = try decode(layout, row: row)
      let alphas = try plan.alpha.map { alpha throws(DeliveryError) in try decode(alpha, row: row) } ?? []
      for plane in 0..<3 { feed(bank.resamplers[order[plane]], plane, row, tiles, alphas) }
    }
    judgeRange()
    return bank.planes
  }

  /// Pixels across and down for a sample of a plane. A picture without colours gets grey ones.
  private func sharing(_ plane: Int) -> PixelSize {
    plane == 0 ? PixelSize(width: 1, height: 1) : layout.format.sharing ?? PixelSize(width: 2, height: 2)
  }

  private func overlaps(_ row: Int) -> Bool {
    let top = row * layout.tile.height
    return top < plan.window.y + plan.window.size.height && top + layout.tile.height > plan.window.y
  }

  /// The tiles of a row; nil beside the window.
  private func decode(_ layout: HEIFLayout, row: Int) throws(DeliveryError) -> [(any CodedPicture)?] {
    var pictures: [(any CodedPicture)?] = []
    for column in 0..<layout.columns {
      let left = column * layout.tile.width
      guard left < plan.window.x + plan.window.size.width, left + layout.tile.width > plan.window.x else {
        pictures.append(nil)
        continue
      }
      let tile = layout.tiles[row * layout.columns + column]
      if row == 0, column == 0, let known = first, layout.format == self.layout.format {
        pictures.append(known)
        first = nil
      } else {
        pictures.append(try layout.format.decode(tile, size: layout.tile, name: name, limits: limits))
      }
    }
    return pictures
  }

  private func feed(
    _ resampler: PlaneResampler, _ plane: Int, _ row: Int, _ tiles: [(any CodedPicture)?],
    _ alphas: [(any CodedPicture)?]
  ) {
    let shared = sharing(plane)
    let tile = layout.tile.shared(by: shared)
    let (left, top) = (plan.window.x / shared.width, plan.window.y / shared.height - row * tile.height)
    for y in max(0, top)..<max(0, top, min(tile.height, top + resampler.rows)) {
      let out = resampler.nextRow(0)
      for (column, picture) in tiles.enumerated() {
        let start = max(left, column * tile.width)
        let end = min(left + resampler.width, (column + 1) * tile.width)
        guard let picture, start < end else { continue }
        let part = start - column * tile.width..<end - column * tile.width
        copy(picture, plane, y, part, out + start - left)
        if alphas.indices.contains(column), let alpha = alphas[column] {
          cover(out + start - left, plane, by: alpha, y, part)
        }
      }
      if plane == 0 { count(out, resampler.width) }
      resampler.takeBatch()
    }
  }

  /// Copies a part of a row as eight bits; planes that are absent are grey.
  private func copy(
    _ picture: any CodedPicture, _ plane: Int, _ y: Int, _ part: Range<Int>, _ out: UnsafeMutablePointer<UInt8>
  ) {
    guard picture.size(plane) != nil, let row = picture.row(y, of: plane) else {
      out.update(repeating: 128, count: part.count)
      return
    }
    if picture.bits == 8 {
      out.update(from: row.assumingMemoryBound(to: UInt8.self) + part.lowerBound, count: part.count)
    } else {
      cpixels_narrow(
        row.assumingMemoryBound(to: UInt16.self) + part.lowerBound, Int32(picture.bits), out, Int32(part.count))
    }
  }

  /// Puts a part of a row on white, whose colour differences are in the middle.
  private func cover(
    _ out: UnsafeMutablePointer<UInt8>, _ plane: Int, by alpha: any CodedPicture, _ y: Int, _ part: Range<Int>
  ) {
    let shared = sharing(plane)
    let pixels = part.lowerBound * shared.width..<min(part.upperBound * shared.width, layout.tile.width)
    let lines = y * shared.height..<min((y + 1) * shared.height, layout.tile.height)
    let isColor = plane > 0 && samples != .rgb
    guard let last = lines.last else { return }
    copy(alpha, 0, lines.lowerBound, pixels, &upper)
    copy(alpha, 0, last, pixels, &lower)
    cpixels_cover(
      out, upper, lower, Int32(pixels.count), Int32(shared.width), isColor ? 128 : black, isColor ? 128 : white,
      plan.isPremultiplied, Int32(part.count))
  }

  private var white: UInt8 { isFullRange ? 255 : 235 }
  private var black: UInt8 { isFullRange ? 0 : 16 }

  private var isFullRange: Bool {
    if case .ycc(let encoding) = samples { return encoding.isFullRange }
    return true
  }

  /// Counts the samples that are too dark or too bright for television's range. Coding makes some of the nearest
  /// levels.
  private func count(_ row: UnsafePointer<UInt8>, _ width: Int) {
    guard !isFullRange else { return }
    counted += width
    outside += Int(cpixels_outside(row, 16 - 4, 235 + 4, Int32(width)))
  }

  /// Some telephones declare television's range and use all levels.
  private func judgeRange() {
    guard case .ycc(let encoding) = samples, !encoding.isFullRange, outside * 200 > counted else { return }
    samples = .ycc(YCCEncoding(red: encoding.red, blue: encoding.blue, isFullRange: true))
  }
}

extension PixelSize {
  /// The size of a plane each of whose samples belongs to several pixels.
  func shared(by pixels: PixelSize) -> PixelSize {
    PixelSize(
      width: (width + pixels.width - 1) / pixels.width, height: (height + pixels.height - 1) / pixels.height)
  }
}
