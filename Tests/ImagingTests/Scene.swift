import Foundation
import Imaging
import Photos
import TestSupport
import Testing

/// A picture in memory, red, green and blue in turn: what tests photograph, and what they see in a JPEG.
struct Scene: Equatable {
  var width: Int
  var height: Int
  var rgb: [UInt8]

  init(width: Int, height: Int, pixel: (_ x: Int, _ y: Int) -> (UInt8, UInt8, UInt8)) {
    self.width = width
    self.height = height
    rgb = []
    rgb.reserveCapacity(3 * width * height)
    for y in 0..<height {
      for x in 0..<width {
        let (red, green, blue) = pixel(x, y)
        rgb += [red, green, blue]
      }
    }
  }

  /// A scene of which no turned or mirrored copy looks like another: slopes of light, and a bright corner.
  static func landscape(width: Int, height: Int) -> Scene {
    Scene(width: width, height: height) { x, y in
      let isCorner = x < width / 4 && y < height / 3
      let wave = 20 * sin(Double(x) / 9) * sin(Double(y) / 7)
      return isCorner
        ? (240, 200, 30) : (UInt8(40 + 150 * x / width), UInt8(90 + Int(wave)), UInt8(30 + 180 * y / height))
    }
  }

  /// Noise, which nothing compresses; the same for the same seed.
  static func noise(width: Int, height: Int, seed: UInt64) -> Scene {
    var random = SeededRandom(seed: seed)
    return Scene(width: width, height: height) { _, _ in
      let bits = random.next()
      return (UInt8(bits & 255), UInt8(bits >> 8 & 255), UInt8(bits >> 16 & 255))
    }
  }

  static func plain(_ red: UInt8, _ green: UInt8, _ blue: UInt8) -> Scene {
    Scene(width: 64, height: 48) { _, _ in (red, green, blue) }
  }

  /// The picture as a camera stores it that was held so that EXIF's `orientation` turns it upright.
  func stored(for orientation: Int) -> Scene {
    let swaps = orientation >= 5
    return Scene(width: swaps ? height : width, height: swaps ? width : height) { x, y in
      let (right, bottom) = (width - 1, height - 1)
      let (fromX, fromY) =
        switch orientation {
        case 2: (right - x, y)
        case 3: (right - x, bottom - y)
        case 4: (x, bottom - y)
        case 5: (y, x)
        case 6: (right - y, x)
        case 7: (right - y, bottom - x)
        case 8: (y, bottom - x)
        default: (x, y)
        }
      return self[fromX, fromY]
    }
  }

  subscript(x: Int, y: Int) -> (UInt8, UInt8, UInt8) {
    let start = 3 * (y * width + x)
    return (rgb[start], rgb[start + 1], rgb[start + 2])
  }

  /// The mean difference of all samples, in levels of 255; infinite when the sizes differ.
  func difference(from other: Scene) -> Double {
    guard width == other.width, height == other.height else { return .infinity }
    let sum = zip(rgb, other.rgb).reduce(0) { $0 + abs(Int($1.0) - Int($1.1)) }
    return Double(sum) / Double(rgb.count)
  }

  /// The mean of all pixels.
  var mean: [Double] {
    (0..<3).map { channel in
      let sum = stride(from: channel, to: rgb.count, by: 3).reduce(0) { $0 + Int(rgb[$1]) }
      return Double(sum) / Double(width * height)
    }
  }
}

/// Splitmix64: the same numbers for the same seed, everywhere.
struct SeededRandom: RandomNumberGenerator {
  private var state: UInt64

  init(seed: UInt64) { state = seed }

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var bits = state
    bits = (bits ^ (bits >> 30)) &* 0xBF58_476D_1CE4_E5B9
    bits = (bits ^ (bits >> 27)) &* 0x94D0_49BB_1331_11EB
    return bits ^ (bits >> 31)
  }
}
