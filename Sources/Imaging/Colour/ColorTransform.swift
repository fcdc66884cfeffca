import CLittleCMS

/// A conversion to sRGB: grey samples to grey samples, RGB and CMYK pixels to RGB pixels.
final class ColorTransform {
  /// Stored pixels of eight bits per colour. CMYK counts ink: 0 is none.
  enum Pixels {
    case grey, rgb, cmyk

    fileprivate var library: (channels: Int, format: cmsUInt32Number, signature: cmsColorSpaceSignature) {
      switch self {
      case .grey: (1, lcms_grey_8, cmsSigGrayData)
      case .rgb: (3, lcms_rgb_8, cmsSigRgbData)
      case .cmyk: (4, lcms_cmyk_8, cmsSigCmykData)
      }
    }
  }

  let pixels: Pixels
  private let transform: cmsHTRANSFORM?
  private let shaper: MatrixShaper?
  /// The result of each grey level: exact, whereas the library would smooth a curve's bends.
  private var greys: [UInt8] = []

  /// From an embedded profile; nil if it is broken or of another kind of pixels.
  convenience init?(profile bytes: [UInt8], of pixels: Pixels) {
    guard let profile = cmsOpenProfileFromMem(bytes, cmsUInt32Number(bytes.count)) else { return nil }
    defer { cmsCloseProfile(profile) }
    let classes = [cmsSigInputClass, cmsSigDisplayClass, cmsSigOutputClass, cmsSigColorSpaceClass]
    guard classes.contains(cmsGetDeviceClass(profile)) else { return nil }
    switch (pixels, cmsGetColorSpace(profile)) {
    case (_, pixels.library.signature): self.init(from: profile, of: pixels)
    case (.grey, cmsSigRgbData): self.init(greysOf: profile)
    default: return nil
    }
  }

  /// From named colours. Grey samples need only the curve; inks have no names.
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

  /// For grey photos with the profile of their former colours, whose greys are equal amounts of them.
  private init?(greysOf profile: cmsHPROFILE) {
    guard let colors = ColorTransform(from: profile, of: .rgb) else { return nil }
    (pixels, transform, shaper) = (.grey, nil, nil)
    let levels: [UInt8] = (0...255).flatMap { [$0, $0, $0] }
    var rendered = [UInt8](repeating: 0, count: levels.count)
    colors.apply(levels, to: &rendered, count: 256)
    greys = stride(from: 1, to: rendered.count, by: 3).map { rendered[$0] }
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
    // For paper, white and black become the screen's; for screens, equal colours stay equal.
    let intent = pixels == .cmyk ? INTENT_PERCEPTUAL : INTENT_RELATIVE_COLORIMETRIC
    let result = pixels == .grey ? pixels : .rgb
    transform = cmsCreateTransform(
      profile, pixels.library.format, standard, result.library.format, cmsUInt32Number(intent),
      cmsUInt32Number(cmsFLAGS_BLACKPOINTCOMPENSATION | (pixels == .grey ? cmsFLAGS_NOOPTIMIZE : 0)))
    guard transform != nil else { return nil }
    if pixels == .grey {
      greys = [UInt8](repeating: 0, count: 256)
      cmsDoTransform(transform, Array(0...255) as [UInt8], &greys, 256)
    }
  }

  deinit {
    if let transform { cmsDeleteTransform(transform) }
  }

  func apply(_ input: UnsafePointer<UInt8>, to output: UnsafeMutablePointer<UInt8>, count: Int) {
    if let shaper {
      shaper.apply(input, to: output, count: count)
    } else if pixels == .grey {
      for index in 0..<count { output[index] = greys[Int(input[index])] }
    } else {
      cmsDoTransform(transform, input, output, cmsUInt32Number(count))
    }
  }

  /// Sampled colours change by rounding only: the profile is one of many for sRGB.
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
    apply(input, to: &output, count: input.count / pixels.library.channels)
    return zip(input, output).allSatisfy { abs(Int($0) - Int($1)) <= 2 }
  }

  private static func greyLikeSRGB() -> cmsHPROFILE? {
    NamedColors.Curve.standard.withToneCurve { cmsCreateGrayProfile(cmsD50_xyY(), $0) }
  }
}
