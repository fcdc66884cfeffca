/// What the samples of a decoder's planes mean.
enum SampleKind: Equatable {
  case grey
  /// Luma and two differences of colour, which may be stored in fewer samples.
  case ycc(YCCEncoding)
  case rgb
  case cmyk(isInverted: Bool)
  /// As Adobe stores it: inks inverted, then turned into luma and differences as JFIF has them.
  case ycck

  /// The second and third plane are wanted in half the width and height.
  var halvesChroma: Bool {
    switch self {
    case .ycc, .ycck: true
    case .grey, .rgb, .cmyk: false
    }
  }

  /// The pixels that come of them.
  var pixels: ColorTransform.Pixels {
    switch self {
    case .grey: .grey
    case .ycc, .rgb: .rgb
    case .cmyk, .ycck: .cmyk
    }
  }
}
