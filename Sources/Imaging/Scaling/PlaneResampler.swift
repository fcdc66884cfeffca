import CPixels

/// Resamples a plane from rows as they arrive, and holds only as many as the filter spans.
final class PlaneResampler {
  let plane: Plane
  private let source: PixelSize
  /// Rows per batch.
  let batchRows: Int
  private let mirrorsDown: Bool
  private let down: ResamplingFilter
  private let across: ResamplingFilter
  /// A ring of source rows: row y is in slot y % slots.
  private let ring: UnsafeMutablePointer<UInt8>
  private let slots: Int
  private let rowBytes: Int
  /// A row after vertical filtering, padded with zeros for the horizontal filter.
  private let line: UnsafeMutablePointer<UInt8>
  private var received = 0
  private var written = 0

  /// Source and target: samples, and the part of them that the picture covers.
  struct Geometry: Hashable {
    var source: PixelSize
    var sourceExtent: Extent
    var target: PixelSize
    var targetExtent: Extent
    var orientation: Orientation
    var kernel = ResamplingFilter.Kernel.sharp
  }

  /// The part of a plane from its upper left corner, in fractional samples.
  struct Extent: Hashable {
    var x: Double
    var y: Double

    init(x: Double, y: Double) { (self.x, self.y) = (x, y) }

    /// A whole picture, in samples of several pixels each.
    init(of size: PixelSize, dividedBy divisor: Double = 1) {
      self.init(x: Double(size.width) / divisor, y: Double(size.height) / divisor)
    }
  }

  /// - Parameters:
  ///   - batchRows: rows per batch.
  ///   - rowBytes: the bytes that the source needs in each row.
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

  var rows: Int { source.height }
  var width: Int { source.width }

  /// All rows were taken and the plane is complete.
  var isComplete: Bool { received == source.height }

  /// The place for a row of the next batch.
  func nextRow(_ index: Int) -> UnsafeMutablePointer<UInt8> { ring + (received + index) % slots * rowBytes }

  /// Takes the next batch and makes all possible rows.
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
