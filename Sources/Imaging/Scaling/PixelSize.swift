/// A width and a height in pixels.
struct PixelSize: Hashable {
  var width: Int
  var height: Int

  var longer: Int { max(width, height) }
  var pixels: Int { width.multipliedReportingOverflow(by: height).partialValue }
  var swapped: PixelSize { PixelSize(width: height, height: width) }
  /// The size of a chroma plane: half, rounded up.
  var halved: PixelSize { PixelSize(width: (width + 1) / 2, height: (height + 1) / 2) }

  var shorter: Int { min(width, height) }
  var isSquare: Bool { width == height }

  /// The same shape with a shorter side of at most `side`; never larger, and at least one pixel.
  func covering(_ side: Int) -> PixelSize {
    guard shorter > side else { return self }
    let factor = Double(side) / Double(shorter)
    return PixelSize(
      width: max(side, Int((Double(width) * factor).rounded())),
      height: max(side, Int((Double(height) * factor).rounded())))
  }

  /// The same shape with a longer side of at most `side`; never larger, and at least one pixel.
  func fitted(into side: Int) -> PixelSize {
    guard longer > side else { return self }
    let factor = Double(side) / Double(longer)
    return PixelSize(
      width: max(1, Int((Double(width) * factor).rounded())),
      height: max(1, Int((Double(height) * factor).rounded())))
  }
}
