import CPixels

/// Makes a plane of another size out of rows as they come, holding no more of them than the filter spans.
final class PlaneResampler {
  let plane: Plane
  private let source: PixelSize
  /// Rows that are delivered at once.
  let batchRows: Int
  private let mirrorsDown: Bool
  private let down: ResamplingFilter
  private let across: ResamplingFilter
  /// Rows of the source lie in a ring: row y is in slot y % slots.
  private let ring: UnsafeMutablePointer<UInt8>
  private let slots: Int
  private let rowBytes: Int
  /// A row that was filtered down and not yet across, with zeros behind it for the filter to run into.
  private let line: UnsafeMutablePointer<UInt8>
  private var received = 0
  private var written = 0

  /// From what to what: samples, and the part of them that the picture covers.
  struct Geometry: Hashable {
    var source: PixelSize
    var sourceExtent: Extent
    var target: PixelSize
    var targetExtent: Extent
    var orientation: Orientation
    var kernel = ResamplingFilter.Kernel.sharp
  }

  /// A part of a plane, from the upper left corner on, in samples and parts of samples.
  struct Extent: Hashable {
    var x: Double
    var y: Double

    init(x: Double, y: Double) { (self.x, self.y) = (x, y) }

    /// All of a picture, in samples each of which stands for several pixels.
    init(of size: PixelSize, dividedBy divisor: Double = 1) {
      self.init(x: Double(size.width) / divisor, y: Double(size.height) / divisor)
    }
  }

  /// - Parameters:
  ///   - batchRows: rows that are delivered at once.
  ///   - rowBytes: room that the deliverer needs in each row, in bytes.
  init(_ geometry: Geometry, batchRows: Int, rowBytes: Int) {
    self.batchRows = batchRows
    source = geometry.source
    plane = Plane(width: geometry.target.width, height: geometry.target.height)
    mirrorsDown = geometry.orientation.mirrorsDown
    let filters = FilterPair.of(geometry)
    (down, across) = (filters.down, filters.across)
    slots = (batchRows + down.taps - 1 + batchRows - 1) / batchRows * batchRows
    self.rowBytes = (max(rowBytes, source.width) + 63) / 32 * 32
    let rowBytes = self.rowBytes
    ring = .allocate(capacity: rowBytes * slots)
    ring.initialize(repeating: 0, count: rowBytes * slots)
    line = .allocate(capacity: rowBytes + across.taps)
    line.initialize(repeating: 0, count: rowBytes + across.taps)
  }

  deinit {
    ring.deallocate()
    line.deallocate()
  }

  /// Rows that have to be delivered in all.
  var rows: Int { source.height }

  /// All rows were taken, and with them all rows of the plane made.
  var isComplete: Bool { received == source.height }

  /// Where the next batch of rows is to be put.
  func nextRow(_ index: Int) -> UnsafeMutablePointer<UInt8> { ring + (received + index) % slots * rowBytes }

  /// Takes the batch that was put there and makes all rows that can be made of it.
  func takeBatch() {
    received = min(received + batchRows, source.height)
    withUnsafeTemporaryAllocation(of: UnsafePointer<UInt8>?.self, capacity: down.taps) { rows in
      while written < plane.height {
        let index = mirrorsDown ? plane.height - 1 - written : written
        let first = Int(down.first[index])
        guard first + down.taps <= received else { return }
        for tap in 0..<down.taps {
          rows[tap] = UnsafePointer(ring + (first + tap) % slots * rowBytes)
        }
        write(row: index, from: rows)
        written += 1
      }
    }
  }

  private func write(row index: Int, from rows: UnsafeMutableBufferPointer<UnsafePointer<UInt8>?>) {
    let isCopy = across.copies && across.first.first == 0
    let filtered = isCopy ? plane.row(index) : line
    let width = Int32(isCopy ? plane.width : source.width)
    down.weights.withUnsafeBufferPointer { weights in
      guard let base = weights.baseAddress else { return }
      cpixels_filter_rows(
        rows.baseAddress, base + index * down.taps, Int32(down.taps), filtered, width)
    }
    guard !isCopy else { return }
    cpixels_filter_across(
      line, across.first, across.weights, Int32(across.taps), plane.row(index), Int32(plane.width))
  }
}
