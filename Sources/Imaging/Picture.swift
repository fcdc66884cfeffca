import CPixels

/// An upright picture for the encoder: a grey plane, or luma with two chroma planes of half its size.
struct Picture {
  let size: PixelSize
  let planes: [Plane]

  /// - Parameter planes: the planes before the orientation's transposition.
  init(size: PixelSize, planes: [Plane], orientation: Orientation) {
    self.size = size
    self.planes = orientation.transposes ? planes.map(Self.transposed) : planes
    for plane in self.planes { plane.extendRows() }
  }

  func resized(to size: PixelSize) -> Picture {
    size == self.size ? self : filtered(to: size, by: .sharp)
  }

  /// The same picture, blurred by a sixteenth of its longer side.
  var blurred: Picture { filtered(to: size, by: .blur(Double(size.longer) / 16)) }

  /// The largest square in the centre. It begins at an even pixel, so that chroma keeps its place.
  var middleSquare: Picture {
    if size.isSquare { return self }
    let side = size.shorter
    let (left, top) = ((size.width - side) / 4 * 2, (size.height - side) / 4 * 2)
    let cut = planes.indices.map { index in
      let scale = index > 0 ? 2 : 1
      return planes[index].cut(x: left / scale, y: top / scale, side: (side + scale - 1) / scale)
    }
    return Picture(size: PixelSize(width: side, height: side), planes: cut, orientation: .upright)
  }

  private func filtered(to size: PixelSize, by kernel: ResamplingFilter.Kernel) -> Picture {
    let components = planes.indices.map { index in
      Component(
        size: PixelSize(width: planes[index].width, height: planes[index].height),
        extent: PlaneResampler.Extent(of: self.size, dividedBy: index > 0 ? 2 : 1))
    }
    let bank = ResamplerBank(components, target: size, orientation: .upright, halvesChroma: true, kernel: kernel)
    for (index, plane) in planes.enumerated() {
      bank.feed(index) { y, row in row.update(from: plane.row(y), count: plane.width) }
    }
    return Picture(size: size, planes: bank.planes, orientation: .upright)
  }

  private static func transposed(_ plane: Plane) -> Plane {
    let result = Plane(width: plane.height, height: plane.width)
    cpixels_transpose(
      plane.samples, Int32(plane.stride), Int32(plane.width), Int32(plane.height), result.samples,
      Int32(result.stride))
    return result
  }
}
