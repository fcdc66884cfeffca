import CLittleCMS
import CPixels
import Glibc

/// A profile of three curves and a matrix, as in nearly all RGB profiles, as tables for a fast conversion to sRGB.
/// Little CMS takes three times as long.
struct MatrixShaper {
  private let toLight: [UInt16]
  private let matrix: [Int32]
  private let fromLight: [UInt8]

  /// From XYZ under D50 to linear sRGB.
  private static let standard: [[Double]] = [
    [3.1338561, -1.6168667, -0.4906146],
    [-0.9787684, 1.9161415, 0.0334540],
    [0.0719453, -0.2289914, 1.4052427],
  ]

  /// nil for profiles with other tables, which take precedence, and for invalid ones.
  init?(profile: cmsHPROFILE) {
    let tables = [cmsSigAToB0Tag, cmsSigAToB1Tag, cmsSigDToB0Tag, cmsSigDToB1Tag]
    guard cmsIsMatrixShaper(profile) != 0, !tables.contains(where: { cmsIsTag(profile, $0) != 0 }) else { return nil }
    var toLight: [UInt16] = []
    for tag in [cmsSigRedTRCTag, cmsSigGreenTRCTag, cmsSigBlueTRCTag] {
      guard let curve = cmsReadTag(profile, tag) else { return nil }
      for level in 0...255 {
        let light = Double(cmsEvalToneCurveFloat(OpaquePointer(curve), Float(level) / 255))
        guard light.isFinite else { return nil }
        toLight.append(UInt16((min(max(light, 0), 1) * 32767).rounded()))
      }
    }
    var colorants: [cmsCIEXYZ] = []
    for tag in [cmsSigRedColorantTag, cmsSigGreenColorantTag, cmsSigBlueColorantTag] {
      guard let value = cmsReadTag(profile, tag) else { return nil }
      colorants.append(value.assumingMemoryBound(to: cmsCIEXYZ.self).pointee)
    }
    var matrix: [Int32] = []
    for row in Self.standard {
      for color in colorants {
        let factor = row[0] * color.X + row[1] * color.Y + row[2] * color.Z
        // Beyond four the sums could exceed 32 bits.
        guard abs(factor) < 4 else { return nil }
        matrix.append(Int32((factor * 8192).rounded()))
      }
    }
    self.toLight = toLight
    self.matrix = matrix
    fromLight = Self.curveOfSRGB
  }

  func apply(_ input: UnsafePointer<UInt8>, to output: UnsafeMutablePointer<UInt8>, count: Int) {
    cpixels_shape(input, toLight, matrix, fromLight, output, Int32(count))
  }

  /// The inverse curve of IEC 61966-2-1.
  private static let curveOfSRGB: [UInt8] = (0..<8192).map { index in
    let light = Double(index) / 8191
    let level = light <= 0.0031308 ? light * 12.92 : 1.055 * pow(light, 1 / 2.4) - 0.055
    return UInt8((level * 255).rounded())
  }
}
