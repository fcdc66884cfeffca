/// Colours that a file names without a profile: by a word, by numbers of ITU-T H.273, or by coordinates.
struct NamedColors: Equatable {
  /// A point in the CIE 1931 diagram.
  struct Point: Equatable {
    var x: Double
    var y: Double
  }

  /// From a sample, 0 to 1, to light.
  enum Curve: Equatable {
    case standard
    case power(Double)
    /// SMPTE ST 2084; white is at 203 candela per square metre (ITU-R BT.2408), and brighter values are clipped.
    case perceptualQuantizer
    /// ITU-R BT.2100's hybrid log-gamma; white is at 0.75 of the signal, and brighter values are clipped.
    case hybridLogGamma
  }

  var red: Point
  var green: Point
  var blue: Point
  var white = daylight
  var curve = Curve.standard

  private static let daylight = Point(x: 0.3127, y: 0.3290)

  static let standard = NamedColors(
    red: Point(x: 0.64, y: 0.33), green: Point(x: 0.30, y: 0.60), blue: Point(x: 0.15, y: 0.06))
  static let displayP3 = NamedColors(
    red: Point(x: 0.680, y: 0.320), green: Point(x: 0.265, y: 0.690), blue: Point(x: 0.150, y: 0.060))
  static let adobe = NamedColors(
    red: Point(x: 0.64, y: 0.33), green: Point(x: 0.21, y: 0.71), blue: Point(x: 0.15, y: 0.06),
    curve: .power(563.0 / 256))
  /// ITU-R BT.2020.
  static let wideTelevision = NamedColors(
    red: Point(x: 0.708, y: 0.292), green: Point(x: 0.170, y: 0.797), blue: Point(x: 0.131, y: 0.046))
}

extension NamedColors {
  /// From H.273's numbers of primaries and transfer; nil if they are sRGB's, nearly so, or unknown. Curves of
  /// television count as sRGB's, as in every viewer.
  init?(primaries: Int, transfer: Int) {
    switch primaries {
    case 9: self = .wideTelevision
    case 12: self = .displayP3
    default: self = .standard
    }
    switch transfer {
    case 4: curve = .power(2.2)
    case 5: curve = .power(2.8)
    case 8: curve = .power(1)
    case 16: curve = .perceptualQuantizer
    case 18: curve = .hybridLogGamma
    default: break
    }
    if self == .standard { return nil }
  }
}
