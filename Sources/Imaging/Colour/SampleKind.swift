/// The meaning of a decoder's samples.
enum SampleKind: Equatable {
  case grey
  /// Luma and two colour differences, which may be subsampled.
  case ycc(YCCEncoding)
  case rgb
  case cmyk(isInverted: Bool)
  /// Adobe's form: inverted inks, converted to luma and differences as in JFIF.
  case ycck

  /// The second and third plane have half the width and height.
  var halvesChroma: Bool {
    switch self {
    case .ycc, .ycck: true
    case .grey, .rgb, .cmyk: false
    }
  }

  var pixels: ColorTransform.Pixels {
    switch self {
    case .grey: .grey
    case .ycc, .rgb: .rgb
    case .cmyk, .ycck: .cmyk
    }
  }
}
