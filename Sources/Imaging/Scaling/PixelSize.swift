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
    shorter > side ? scaled(by: Double(side) / Double(shorter), least: side) : self
  }

  /// The same shape with a longer side of at most `side`; never larger, and at least one pixel.
  func fitted(into side: Int) -> PixelSize {
    longer > side ? scaled(by: Double(side) / Double(longer), least: 1) : self
  }

  private func scaled(by factor: Double, least: Int) -> PixelSize {
    PixelSize(
      width: max(least, Int((Double(width) * factor).rounded())),
      height: max(least, Int((Double(height) * factor).rounded())))
  }
}
