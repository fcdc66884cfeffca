import CPixels

/// Converts a decoder's planes to those of an sRGB picture.
struct ColorRendering {
  let samples: SampleKind
  /// From the photo's colours to sRGB; nil if they are sRGB, or ink without a profile.
  let transform: ColorTransform?

  /// The encoder can take the decoder's planes unchanged.
  var isPlain: Bool { transform == nil && (samples == .grey || samples == .ycc(.jfif)) }

  /// - Parameter planes: of the picture's size, except for halved chroma.
  func render(_ planes: [Plane], size: PixelSize) -> [Plane] {
    if isPlain { return planes }
    if samples == .grey { return [renderGrey(planes[0])] }
    if transform == nil, samples == .ycc(.video) { return widen(planes) }
    return renderColor(planes, size: size)
  }

  private func renderGrey(_ plane: Plane) -> Plane {
    for y in 0..<plane.height { transform?.apply(plane.row(y), to: plane.row(y), count: plane.width) }
    return plane
  }

  /// Only the range differs from JPEG's.
  private func widen(_ planes: [Plane]) -> [Plane] {
    func table(_ level: (Double) -> Double) -> [UInt8] {
      (0...255).map { UInt8(min(max(level(Double($0)).rounded(), 0), 255)) }
    }
    let luma = table { ($0 - 16) * 255 / 219 }
    let difference = table { ($0 - 128) * 255 / 224 + 128 }
    for (index, plane) in planes.enumerated() {
      let table = index == 0 ? luma : difference
      for place in 0..<plane.stride * plane.height { plane.samples[place] = table[Int(plane.samples[place])] }
    }
    return planes
  }

  /// Converts two rows at a time, which make one row of chroma.
  private func renderColor(_ planes: [Plane], size: PixelSize) -> [Plane] {
    let luma = Plane(width: size.width, height: size.height)
    let blue = Plane(width: size.halved.width, height: size.halved.height)
    let red = Plane(width: size.halved.width, height: size.halved.height)
    let rows = Plane(width: size.width * 3, height: 2)
    let stored = Plane(width: size.width * 4, height: 1)
    for top in stride(from: 0, to: size.height, by: 2) {
      // An odd last row is its own neighbour.
      let bottom = min(top + 1, size.height - 1)
      for y in top...bottom { renderRow(y, of: planes, by: stored.samples, to: rows.row(y - top)) }
      cpixels_rgb_to_ycc(
        rows.row(0), rows.row(bottom - top), 3, luma.row(top), bottom > top ? luma.row(bottom) : stored.samples,
        blue.row(top / 2), red.row(top / 2), Int32(size.width))
    }
    return [luma, blue, red]
  }

  private func renderRow(
    _ y: Int, of planes: [Plane], by stored: UnsafeMutablePointer<UInt8>, to pixels: UnsafeMutablePointer<UInt8>
  ) {
    let width = planes[0].width
    let count = Int32(width)
    func row(_ index: Int) -> UnsafeMutablePointer<UInt8> {
      planes[index].row(samples.halvesChroma && (1...2).contains(index) ? y / 2 : y)
    }
    var isInk = false
    switch samples {
    case .cmyk(let isInverted):
      cpixels_interleave4(row(0), row(1), row(2), row(3), isInverted ? 255 : 0, stored, count)
      isInk = true
    case .ycck:
      cpixels_ycck_to_cmyk(row(0), row(1), row(2), row(3), YCCEncoding.jfif.factors, pixels, stored, count)
      isInk = true
    case .ycc(let encoding):
      cpixels_ycc_to_rgb(row(0), row(1), row(2), encoding.factors, pixels, count)
    case .grey, .rgb:
      cpixels_interleave3(row(0), row(1), row(2), pixels, count)
    }
    if let transform {
      transform.apply(isInk ? stored : pixels, to: pixels, count: width)
    } else if isInk {
      cpixels_cmyk_to_rgb(stored, pixels, count)
    }
  }
}
