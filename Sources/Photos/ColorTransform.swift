import CLittleCMS

/// A way from a photo's colours to sRGB: grey samples to grey samples, RGB and CMYK pixels to RGB pixels.
final class ColorTransform {
  /// Pixels as they are stored, eight bits for each colour. CMYK counts ink: 0 is none.
  enum Pixels {
    case grey, rgb, cmyk

    var channels: Int {
      switch self {
      case .grey: 1
      case .rgb: 3
      case .cmyk: 4
      }
    }

    fileprivate var format: cmsUInt32Number {
      switch self {
      case .grey: lcms_grey_8
      case .rgb: lcms_rgb_8
      case .cmyk: lcms_cmyk_8
      }
    }

    fileprivate var signature: cmsColorSpaceSignature {
      switch self {
      case .grey: cmsSigGrayData
      case .rgb: cmsSigRgbData
      case .cmyk: cmsSigCmykData
      }
    }

    /// What the pixels become.
    var result: Pixels { self == .grey ? .grey : .rgb }
  }

  let pixels: Pixels
  private let transform: cmsHTRANSFORM?
  private let shaper: MatrixShaper?

  /// By an embedded profile; nil when it is broken, or one of other pixels than these.
  convenience init?(profile bytes: [UInt8], of pixels: Pixels) {
    guard let profile = cmsOpenProfileFromMem(bytes, cmsUInt32Number(bytes.count)) else { return nil }
    defer { cmsCloseProfile(profile) }
    let classes = [cmsSigInputClass, cmsSigDisplayClass, cmsSigOutputClass, cmsSigColorSpaceClass]
    guard cmsGetColorSpace(profile) == pixels.signature, classes.contains(cmsGetDeviceClass(profile)) else {
      return nil
    }
    self.init(from: profile, of: pixels)
  }

  /// From Adobe RGB (1998), for photos that only say so.
  convenience init?(adobeRGB: Void) {
    var white = cmsCIExyY(x: 0.3127, y: 0.3290, Y: 1)
    var primaries = cmsCIExyYTRIPLE(
      Red: cmsCIExyY(x: 0.64, y: 0.33, Y: 1), Green: cmsCIExyY(x: 0.21, y: 0.71, Y: 1),
      Blue: cmsCIExyY(x: 0.15, y: 0.06, Y: 1))
    guard let curve = cmsBuildGamma(nil, 563.0 / 256) else { return nil }
    defer { cmsFreeToneCurve(curve) }
    var curves: [OpaquePointer?] = [curve, curve, curve]
    guard let profile = cmsCreateRGBProfile(&white, &primaries, &curves) else { return nil }
    defer { cmsCloseProfile(profile) }
    self.init(from: profile, of: .rgb)
  }

  private init?(from profile: cmsHPROFILE, of pixels: Pixels) {
    self.pixels = pixels
    shaper = pixels == .rgb ? MatrixShaper(profile: profile) : nil
    guard shaper == nil else {
      transform = nil
      return
    }
    guard let standard = pixels == .grey ? Self.greyLikeSRGB() : cmsCreate_sRGBProfile() else { return nil }
    defer { cmsCloseProfile(standard) }
    // Papers are mapped so that their white and black are the screen's; screens so that equal colours stay equal.
    let intent = pixels == .cmyk ? INTENT_PERCEPTUAL : INTENT_RELATIVE_COLORIMETRIC
    transform = cmsCreateTransform(
      profile, pixels.format, standard, pixels.result.format, cmsUInt32Number(intent),
      cmsUInt32Number(cmsFLAGS_BLACKPOINTCOMPENSATION))
    guard transform != nil else { return nil }
  }

  deinit {
    if let transform { cmsDeleteTransform(transform) }
  }

  /// Transforms `count` pixels.
  func apply(_ input: UnsafePointer<UInt8>, to output: UnsafeMutablePointer<UInt8>, count: Int) {
    if let shaper {
      shaper.apply(input, to: output, count: count)
    } else {
      cmsDoTransform(transform, input, output, cmsUInt32Number(count))
    }
  }

  /// No colour of a sample of all changes by more than rounding does: the profile is one of the many of sRGB.
  var changesNothing: Bool {
    guard pixels != .cmyk else { return false }
    var input: [UInt8] = []
    for level in stride(from: UInt8(0), through: 255, by: 17) {
      guard pixels == .rgb else {
        input.append(level)
        continue
      }
      input += [level, level, level, level, 0, 0, 0, level, 0, 0, 0, level, 255, level, 128, 128, 255, level]
    }
    var output = input
    input.withUnsafeBufferPointer { input in
      output.withUnsafeMutableBufferPointer { output in
        guard let from = input.baseAddress, let into = output.baseAddress else { return }
        apply(from, to: into, count: input.count / pixels.channels)
      }
    }
    return zip(input, output).allSatisfy { abs(Int($0) - Int($1)) <= 2 }
  }

  private static func greyLikeSRGB() -> cmsHPROFILE? {
    // The curve of IEC 61966-2-1 in the form that Little CMS numbers 4.
    guard
      let curve = cmsBuildParametricToneCurve(nil, 4, [2.4, 1 / 1.055, 0.055 / 1.055, 1 / 12.92, 0.04045])
    else { return nil }
    defer { cmsFreeToneCurve(curve) }
    return cmsCreateGrayProfile(cmsD50_xyY(), curve)
  }
}
