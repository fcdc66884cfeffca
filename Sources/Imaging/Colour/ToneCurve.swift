import CLittleCMS
import Glibc

extension NamedColors.Curve {
  /// Calls `body` with Little CMS' form of the curve; nil without memory.
  func withToneCurve<Result>(_ body: (OpaquePointer) -> Result?) -> Result? {
    guard let curve = toneCurve else { return nil }
    defer { cmsFreeToneCurve(curve) }
    return body(curve)
  }

  private var toneCurve: OpaquePointer? {
    switch self {
    // The curve of IEC 61966-2-1, as Little CMS' type 4.
    case .standard: cmsBuildParametricToneCurve(nil, 4, [2.4, 1 / 1.055, 0.055 / 1.055, 1 / 12.92, 0.04045])
    case .power(let exponent): cmsBuildGamma(nil, exponent)
    case .perceptualQuantizer: Self.table { Self.candelas($0) / 203 }
    case .hybridLogGamma: Self.table { Self.scene($0) / Self.scene(0.75) }
    }
  }

  private static func table(_ light: (Double) -> Double) -> OpaquePointer? {
    let size = 4096
    let entries = (0..<size).map { UInt16((min(light(Double($0) / Double(size - 1)), 1) * 65535).rounded()) }
    return cmsBuildTabulatedToneCurve16(nil, cmsUInt32Number(size), entries)
  }

  /// SMPTE ST 2084: from signal to candela per square metre.
  private static func candelas(_ signal: Double) -> Double {
    let (m1, m2) = (2610.0 / 16384, 2523.0 / 4096 * 128)
    let (c1, c2, c3) = (3424.0 / 4096, 2413.0 / 4096 * 32, 2392.0 / 4096 * 32)
    let power = pow(signal, 1 / m2)
    return 10_000 * pow(max(power - c1, 0) / (c2 - c3 * power), 1 / m1)
  }

  /// ITU-R BT.2100: from signal to scene light, 0 to 1.
  private static func scene(_ signal: Double) -> Double {
    let (a, b, c) = (0.17883277, 0.28466892, 0.55991073)
    return signal <= 0.5 ? signal * signal / 3 : (exp((signal - c) / a) + b) / 12
  }
}
