import CPixels

/// The conversion of red, green and blue to luma and differences: ITU-T H.273, matrix coefficients and range.
struct YCCEncoding: Equatable {
  /// The shares of red and blue in luma; green has the rest.
  let red: Double
  let blue: Double
  /// Luma uses 0 to 255; otherwise 16 to 235, and differences 16 to 240.
  let isFullRange: Bool

  /// JPEG's (JFIF 1.02).
  static let jfif = YCCEncoding(red: 0.299, blue: 0.114, isFullRange: true)
  /// WebP's (RFC 6386).
  static let video = YCCEncoding(red: 0.299, blue: 0.114, isFullRange: false)
}

extension YCCEncoding {
  /// From H.273's number of the matrix; nil if it is not a weighted sum. The default is BT.601's.
  init?(matrix: Int, isFullRange: Bool) {
    switch matrix {
    case 1: self.init(red: 0.2126, blue: 0.0722, isFullRange: isFullRange)
    case 2, 5, 6: self.init(red: 0.299, blue: 0.114, isFullRange: isFullRange)
    case 4: self.init(red: 0.30, blue: 0.11, isFullRange: isFullRange)
    case 7: self.init(red: 0.212, blue: 0.087, isFullRange: isFullRange)
    case 9: self.init(red: 0.2627, blue: 0.0593, isFullRange: isFullRange)
    default: return nil
    }
  }

  /// The same in fixed-point numbers with 65536 as one.
  var factors: cpixels_ycc {
    let luma = isFullRange ? 1 : 255.0 / 219
    let difference = isFullRange ? 1 : 255.0 / 224
    let green = 1 - red - blue
    func fixed(_ value: Double) -> Int32 { Int32((value * 65536).rounded()) }
    return cpixels_ycc(
      black: isFullRange ? 0 : 16, luma: fixed(luma), red: fixed(2 * (1 - red) * difference),
      green_by_blue: fixed(2 * (1 - blue) * blue / green * difference),
      green_by_red: fixed(2 * (1 - red) * red / green * difference), blue: fixed(2 * (1 - blue) * difference))
  }
}
