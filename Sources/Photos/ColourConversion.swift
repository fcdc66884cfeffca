import CLittleCMS

/// Converts pixels to sRGB with Little CMS, so that they look the same without their profile.
final class ColourConversion {
  /// What the numbers of the pixels mean.
  enum Source {
    case profile([UInt8])
    case adobeRGB
  }

  private let transform: cmsHTRANSFORM
  private let isCMYK: Bool

  /// Nil when the profile is damaged or does not fit the pixels; they are then taken as they are.
  init?(_ source: Source, from pixels: Pixels) {
    guard let profile = Self.open(source) else { return nil }
    defer { cmsCloseProfile(profile) }
    let space = cmsGetColorSpace(profile)
    let isCMYK = pixels.colour == .cmyk
    guard space == (isCMYK ? cmsSigCmykData : cmsSigRgbData), let standard = cmsCreate_sRGBProfile() else { return nil }
    defer { cmsCloseProfile(standard) }
    let format = isCMYK ? (pixels.isInverted ? Self.cmykInverted : Self.cmyk) : Self.rgb
    let flags = cmsUInt32Number(cmsFLAGS_BLACKPOINTCOMPENSATION | cmsFLAGS_NOCACHE)
    let intent = cmsUInt32Number(INTENT_RELATIVE_COLORIMETRIC)
    guard let transform = cmsCreateTransform(profile, format, standard, Self.rgb, intent, flags) else { return nil }
    self.transform = transform
    self.isCMYK = isCMYK
  }

  deinit { cmsDeleteTransform(transform) }

  /// Whether the conversion leaves colours where they are, to within what 8 bits can show: the profile is sRGB's.
  var isIdentity: Bool {
    guard !isCMYK else { return false }
    let probes: [UInt8] = [
      0, 0, 0, 255, 255, 255, 255, 0, 0, 0, 255, 0, 0, 0, 255, 128, 128, 128, 200, 100, 50, 50, 100, 200, 30, 180, 90,
    ]
    return zip(probes, converted(probes, count: probes.count / 3)).allSatisfy { abs(Int($0) - Int($1)) <= 2 }
  }

  /// The pixels as sRGB.
  func converted(_ pixels: Pixels) -> Pixels {
    Pixels(
      width: pixels.width, height: pixels.height, channels: 3, colour: .rgb, isInverted: false,
      samples: converted(pixels.samples, count: pixels.width * pixels.height))
  }

  private func converted(_ samples: [UInt8], count: Int) -> [UInt8] {
    [UInt8](unsafeUninitializedCapacity: count * 3) { target, filled in
      cmsDoTransform(transform, samples, target.baseAddress, cmsUInt32Number(count))
      filled = count * 3
    }
  }

  private static func open(_ source: Source) -> cmsHPROFILE? {
    switch source {
    case .profile(let bytes):
      return cmsOpenProfileFromMem(bytes, cmsUInt32Number(bytes.count))
    case .adobeRGB:
      // Adobe RGB (1998) Color Image Encoding, section 4.3.
      var white = cmsCIExyY(x: 0.3127, y: 0.3290, Y: 1)
      var primaries = cmsCIExyYTRIPLE(
        Red: cmsCIExyY(x: 0.64, y: 0.33, Y: 1), Green: cmsCIExyY(x: 0.21, y: 0.71, Y: 1),
        Blue: cmsCIExyY(x: 0.15, y: 0.06, Y: 1))
      guard let curve = cmsBuildGamma(nil, 2.199_218_75) else { return nil }
      defer { cmsFreeToneCurve(curve) }
      var curves: [OpaquePointer?] = [curve, curve, curve]
      return cmsCreateRGBProfile(&white, &primaries, &curves)
    }
  }

  /// Little CMS's pixel formats, whose macros Swift does not see: colour space, channels, bytes a sample, flavour.
  private static func format(space: Int32, channels: UInt32, isInverted: Bool = false) -> cmsUInt32Number {
    cmsUInt32Number(space) << 16 | channels << 3 | 1 | (isInverted ? 1 << 13 : 0)
  }
  private static let rgb = format(space: PT_RGB, channels: 3)
  private static let cmyk = format(space: PT_CMYK, channels: 4)
  private static let cmykInverted = format(space: PT_CMYK, channels: 4, isInverted: true)
}

extension Pixels {
  /// CMYK as RGB without knowing the inks: each colour is what its ink and the black leave of the light.
  func plainRGBFromCMYK() -> Pixels {
    let count = width * height
    let result = [UInt8](unsafeUninitializedCapacity: count * 3) { target, filled in
      for index in 0..<count {
        for channel in 0..<3 {
          let (ink, black) = (Int(samples[index * 4 + channel]), Int(samples[index * 4 + 3]))
          let light = isInverted ? ink * black : (255 - ink) * (255 - black)
          target[index * 3 + channel] = UInt8((light + 127) / 255)
        }
      }
      filled = count * 3
    }
    return Pixels(width: width, height: height, channels: 3, colour: .rgb, isInverted: false, samples: result)
  }
}
