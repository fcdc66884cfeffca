/// A width and a height in pixels.
struct PixelSize: Hashable {
  var width: Int
  var height: Int

  var longer: Int { max(width, height) }
  var pixels: Int { width.multipliedReportingOverflow(by: height).partialValue }
  var swapped: PixelSize { PixelSize(width: height, height: width) }
  /// The size of a chroma plane: half, rounded up.
  var halved: PixelSize { PixelSize(width: (width + 1) / 2, height: (height + 1) / 2) }

  /// The same shape with a longer side of at most `side`; never larger, and never less than one pixel.
  func fitted(into side: Int) -> PixelSize {
    guard longer > side else { return self }
    let factor = Double(side) / Double(longer)
    return PixelSize(
      width: max(1, Int((Double(width) * factor).rounded())),
      height: max(1, Int((Double(height) * factor).rounded())))
  }
}
