import Foundation

/// A colour space of three primaries and a curve, written as an ICC profile by hand and computed by the book, so that
/// the tests do not lean on the library that they judge.
struct MatrixProfile: Sendable {
  /// Red, green and blue in XYZ under D50.
  let colorants: [[Double]]
  /// The exponent from levels to light; nil is the curve of sRGB.
  let gamma: Double?

  static let standard = MatrixProfile(
    colorants: [[0.43607, 0.22249, 0.01392], [0.38515, 0.71687, 0.09708], [0.14307, 0.06061, 0.71410]], gamma: nil)
  /// Display P3.
  static let p3 = MatrixProfile(
    colorants: [[0.51512, 0.24120, -0.00105], [0.29198, 0.69225, 0.04189], [0.15710, 0.06657, 0.78407]], gamma: nil)
  /// Adobe RGB (1998).
  static let adobe = MatrixProfile(
    colorants: [[0.60974, 0.31111, 0.01947], [0.20528, 0.62567, 0.06087], [0.14919, 0.06322, 0.74457]],
    gamma: 2.19921875)

  /// The bytes of a version 2 profile.
  var icc: [UInt8] {
    let names = ["rXYZ", "gXYZ", "bXYZ"]
    let curve =
      gamma.map { text("curv") + number(0) + number(1) + short(UInt16(($0 * 256).rounded())) + [0, 0] }
      ?? text("curv") + number(0) + number(1024)
      + (0..<1024).flatMap { short(UInt16((brightness(Double($0) / 1023) * 65535).rounded())) }
    var elements = names.indices.map { (names[$0], xyz(colorants[$0])) }
    elements += ["rTRC", "gTRC", "bTRC"].map { ($0, curve) }
    elements += [("wtpt", xyz([0.9642, 1, 0.8249]))]
    let offsets = elements.indices.map { index in
      132 + 12 * elements.count + elements[..<index].reduce(0) { $0 + $1.1.count }
    }
    var body = number(UInt32(elements.count))
    for (index, element) in elements.enumerated() {
      body += text(element.0) + number(UInt32(offsets[index])) + number(UInt32(element.1.count))
    }
    body += elements.flatMap(\.1)
    var header = number(UInt32(128 + body.count)) + text("none") + number(0x0210_0000) + text("mntr") + text("RGB ")
    header += text("XYZ ") + [UInt8](repeating: 0, count: 12) + text("acsp")
    header += [UInt8](repeating: 0, count: 128 - header.count)
    header.replaceSubrange(68..<80, with: number(63190) + number(65536) + number(54061))
    return header + body
  }

  /// What a colour of this space is in sRGB, in levels of 255, clipped.
  func standard(_ color: [UInt8]) -> [Double] {
    let light = color.map { brightness(Double($0) / 255) }
    let xyz = (0..<3).map { axis in (0..<3).reduce(0) { $0 + colorants[$1][axis] * light[$1] } }
    let toStandard = [
      [3.1338561, -1.6168667, -0.4906146], [-0.9787684, 1.9161415, 0.0334540], [0.0719453, -0.2289914, 1.4052427],
    ]
    return toStandard.map { row in
      let light = min(max(zip(row, xyz).reduce(0) { $0 + $1.0 * $1.1 }, 0), 1)
      return 255 * (light <= 0.0031308 ? 12.92 * light : 1.055 * pow(light, 1 / 2.4) - 0.055)
    }
  }

  private func brightness(_ level: Double) -> Double {
    if let gamma { return pow(level, gamma) }
    return level <= 0.04045 ? level / 12.92 : pow((level + 0.055) / 1.055, 2.4)
  }

  private func text(_ text: String) -> [UInt8] { Array(text.utf8) }
  private func short(_ value: UInt16) -> [UInt8] { [UInt8(value >> 8), UInt8(value & 255)] }
  private func number(_ value: UInt32) -> [UInt8] { (0..<4).map { UInt8(truncatingIfNeeded: value >> (24 - 8 * $0)) } }
  private func xyz(_ values: [Double]) -> [UInt8] {
    text("XYZ ") + number(0) + values.flatMap { number(UInt32(bitPattern: Int32(($0 * 65536).rounded()))) }
  }
}
