import CPixels

/// A component of a photo from its decoder.
struct Component {
  var size: PixelSize
  /// The part that the picture covers.
  var extent: PlaneResampler.Extent
  var batchRows = 8
  /// The bytes that the decoder needs in each row; 0 means the width.
  var rowBytes = 0
}

/// The resamplers of all components of a photo, for a picture of one size.
struct ResamplerBank {
  let resamplers: [PlaneResampler]

  /// - Parameter halvesChroma: the second and third plane get half the width and height.
  init(
    _ components: [Component], target: PixelSize, orientation: Orientation, halvesChroma: Bool,
    kernel: ResamplingFilter.Kernel = .sharp
  ) {
    var resamplers: [PlaneResampler] = []
    for (index, component) in components.enumerated() {
      let isHalved = halvesChroma && (1...2).contains(index)
      let geometry = PlaneResampler.Geometry(
        source: component.size, sourceExtent: component.extent, target: isHalved ? target.halved : target,
        targetExtent: PlaneResampler.Extent(of: target, dividedBy: isHalved ? 2 : 1), orientation: orientation,
        kernel: kernel)
      resamplers.append(
        PlaneResampler(geometry, batchRows: component.batchRows, rowBytes: component.rowBytes))
    }
    self.resamplers = resamplers
  }

  var isComplete: Bool { resamplers.allSatisfy(\.isComplete) }
  var planes: [Plane] { resamplers.map(\.plane) }

  /// Feeds one component: `deliver` writes the row of a number to a pointer.
  func feed(_ index: Int, _ deliver: (Int, UnsafeMutablePointer<UInt8>) -> Void) {
    let resampler = resamplers[index]
    var y = 0
    while !resampler.isComplete {
      for row in 0..<resampler.batchRows where y + row < resampler.rows { deliver(y + row, resampler.nextRow(row)) }
      y += resampler.batchRows
      resampler.takeBatch()
    }
  }

  /// Feeds components of the same size together: `deliver` writes a row of each.
  func feedTogether<Failure: Error>(
    _ deliver: (Int, UnsafePointer<UnsafeMutablePointer<UInt8>?>) throws(Failure) -> Void
  ) throws(Failure) {
    guard let first = resamplers.first else { return }
    var rows = [UnsafeMutablePointer<UInt8>?](repeating: nil, count: resamplers.count)
    var y = 0
    while !isComplete {
      for row in 0..<first.batchRows where y + row < first.rows {
        for (index, resampler) in resamplers.enumerated() { rows[index] = resampler.nextRow(row) }
        try deliver(y + row, rows)
      }
      y += first.batchRows
      for resampler in resamplers { resampler.takeBatch() }
    }
  }

  /// For RGB pixels, which `feedPixels` converts to luma and chroma before they are scaled: half the work of three planes.
  init(ofPixels size: PixelSize, target: PixelSize, orientation: Orientation) {
    let full = Component(size: size, extent: PlaneResampler.Extent(of: size))
    let half = Component(size: size.halved, extent: PlaneResampler.Extent(of: size, dividedBy: 2), batchRows: 4)
    self.init([full, half, half], target: target, orientation: orientation, halvesChroma: true)
  }

  /// Feeds pixels of three samples, or of four with alpha, which is over white.
  ///
  /// - Parameter deliver: gives the row of an even number and the next one; the last row of all may stand for both.
  func feedPixels<Failure: Error>(
    channels: Int, _ deliver: (Int) throws(Failure) -> (UnsafePointer<UInt8>, UnsafePointer<UInt8>)
  ) throws(Failure) {
    let (luma, blue, red) = (resamplers[0], resamplers[1], resamplers[2])
    var y = 0
    while !luma.isComplete {
      for pair in 0..<luma.batchRows / 2 where y + 2 * pair < luma.rows {
        let (upper, lower) = try deliver(y + 2 * pair)
        cpixels_rgb_to_ycc(
          upper, lower, Int32(channels), luma.nextRow(2 * pair), luma.nextRow(2 * pair + 1), blue.nextRow(pair),
          red.nextRow(pair), Int32(luma.width))
      }
      y += luma.batchRows
      for resampler in resamplers { resampler.takeBatch() }
    }
  }
}
