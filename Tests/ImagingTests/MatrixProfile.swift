import Foundation

/// A colour space of three primaries and a curve, as a handwritten ICC profile and computed by the standard,
/// independent of the tested library.
struct MatrixProfile: Sendable {
  /// Red, green and blue in XYZ under D50.
  let colorants: [[Double]]
  /// The exponent from levels to light; nil means sRGB's curve.
  let gamma: Double?

  static let standard = MatrixProfile(
    colorants: [[0.43607, 0.22249, 0.01392], [0.38515, 0.71687, 0.09708], [0.14307, 0.06061, 0.71410]], gamma: nil)
  static let p3 = MatrixProfile(
    colorants: [[0.51512, 0.24120, -0.00105], [0.29198, 0.69225, 0.04189], [0.15710, 0.06657, 0.78407]], gamma: nil)
  /// Adobe RGB (1998).
  static let adobe = MatrixProfile(
    colorants: [[0.60974, 0.31111, 0.01947], [0.20528, 0.62567, 0.06087], [0.14919, 0.06322, 0.74457]],
    gamma: 2.19921875)

  /// ProPhoto (ROMM), wider than human vision.
  static let proPhoto = MatrixProfile(
    colorants: [[0.79767, 0.28804, 0], [0.13519, 0.71188, 0], [0.03134, 0.00009, 0.82491]], gamma: 1.80078125)
  static let wide = MatrixProfile(
    colorants: [[0.67349, 0.27905, -0.00193], [0.16569, 0.67535, 0.02998], [0.12502, 0.04560, 0.79684]], gamma: nil)

  func with(gamma: Double) -> MatrixProfile { MatrixProfile(colorants: colorants, gamma: gamma) }

  var icc: [UInt8] {
    let curve =
      gamma.map { ICCFile.curve(gamma: $0) }
      ?? ICCFile.text("curv") + ICCFile.number(0) + ICCFile.number(1024)
      + (0..<1024).flatMap { ICCFile.short(UInt16((brightness(Double($0) / 1023) * 65535).rounded())) }
    var elements = zip(["rXYZ", "gXYZ", "bXYZ"], colorants).map { ($0, ICCFile.xyz($1)) }
    elements += ["rTRC", "gTRC", "bTRC"].map { ($0, curve) }
    return ICCFile(kind: "mntr", space: "RGB ", connection: "XYZ ", elements: elements).bytes
  }

  /// A colour of this space in sRGB, in levels of 255, clipped.
  func standard(_ color: [UInt8]) -> [Double] {
    let light = color.map { brightness(Double($0) / 255) }
    let xyz = (0..<3).map { axis in (0..<3).reduce(0) { $0 + colorants[$1][axis] * light[$1] } }
    return Self.standard(xyz: xyz)
  }

  /// A colour under D50 in sRGB, in levels of 255, clipped.
  static func standard(xyz: [Double]) -> [Double] {
    let toStandard = [
      [3.1338561, -1.6168667, -0.4906146], [-0.9787684, 1.9161415, 0.0334540], [0.0719453, -0.2289914, 1.4052427],
    ]
    return toStandard.map { row in level(of: zip(row, xyz).reduce(0) { $0 + $1.0 * $1.1 }) }
  }

  static func level(of light: Double) -> Double {
    let light = min(max(light, 0), 1)
    return 255 * (light <= 0.0031308 ? 12.92 * light : 1.055 * pow(light, 1 / 2.4) - 0.055)
  }

  private func brightness(_ level: Double) -> Double {
    if let gamma { return pow(level, gamma) }
    return level <= 0.04045 ? level / 12.92 : pow((level + 0.055) / 1.055, 2.4)
  }
}
