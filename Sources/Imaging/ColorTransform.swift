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

  /// From colours that a file only names. Of grey samples, only the curve counts; inks have no names.
  convenience init?(of colors: NamedColors, _ pixels: Pixels) {
    func point(_ point: NamedColors.Point) -> cmsCIExyY { cmsCIExyY(x: point.x, y: point.y, Y: 1) }
    let made: cmsHPROFILE? = colors.curve.withToneCurve { curve in
      var white = point(colors.white)
      switch pixels {
      case .cmyk: return nil
      case .grey: return cmsCreateGrayProfile(&white, curve)
      case .rgb:
        var primaries = cmsCIExyYTRIPLE(Red: point(colors.red), Green: point(colors.green), Blue: point(colors.blue))
        var curves: [OpaquePointer?] = [curve, curve, curve]
        return cmsCreateRGBProfile(&white, &primaries, &curves)
      }
    }
    guard let profile = made else { return nil }
    defer { cmsCloseProfile(profile) }
    self.init(from: profile, of: pixels)
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
    NamedColors.Curve.standard.withToneCurve { cmsCreateGrayProfile(cmsD50_xyY(), $0) }
  }
}
