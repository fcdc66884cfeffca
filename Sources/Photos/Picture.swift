import CPixels

/// An upright picture as the encoder takes it: a grey plane, or luma with two chroma planes of half its size.
struct Picture {
  let size: PixelSize
  let planes: [Plane]

  /// - Parameter planes: planes of the picture before it is transposed, as the orientation asks.
  init(size: PixelSize, planes: [Plane], orientation: Orientation) {
    self.size = size
    self.planes = orientation.transposes ? planes.map(Self.transposed) : planes
    for plane in self.planes { plane.extendRows() }
  }

  /// The same picture in another size.
  func resized(to size: PixelSize) -> Picture {
    guard size != self.size else { return self }
    var resamplers: [PlaneResampler] = []
    for (index, plane) in planes.enumerated() {
      let divisor: Double = index > 0 ? 2 : 1
      let geometry = PlaneResampler.Geometry(
        source: PixelSize(width: plane.width, height: plane.height),
        sourceExtent: PlaneResampler.Extent(
          x: Double(self.size.width) / divisor, y: Double(self.size.height) / divisor),
        target: index > 0 ? size.halved : size,
        targetExtent: PlaneResampler.Extent(x: Double(size.width) / divisor, y: Double(size.height) / divisor),
        orientation: .upright)
      let resampler = PlaneResampler(
        geometry, batchRows: 8, rowBytes: plane.width, sibling: resamplers.last)
      for top in stride(from: 0, to: plane.height, by: 8) {
        for y in top..<min(top + 8, plane.height) {
          resampler.nextRow(y - top).update(from: plane.row(y), count: plane.width)
        }
        resampler.takeBatch()
      }
      resamplers.append(resampler)
    }
    let planes = resamplers.map(\.plane)
    return Picture(size: size, planes: planes, orientation: .upright)
  }

  private static func transposed(_ plane: Plane) -> Plane {
    let result = Plane(width: plane.height, height: plane.width)
    cpixels_transpose(
      plane.samples, Int32(plane.stride), Int32(plane.width), Int32(plane.height), result.samples,
      Int32(result.stride))
    return result
  }
}
