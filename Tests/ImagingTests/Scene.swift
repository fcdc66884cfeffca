import Foundation
import Imaging
import TestSupport
import Testing

/// A picture in memory with interleaved red, green and blue.
struct Scene: Equatable {
  var width: Int
  var height: Int
  var rgb: [UInt8]

  init(width: Int, height: Int, pixel: (_ x: Int, _ y: Int) -> (UInt8, UInt8, UInt8)) {
    self.width = width
    self.height = height
    rgb = [UInt8](unsafeUninitializedCapacity: 3 * width * height) { samples, count in
      for y in 0..<height {
        for x in 0..<width {
          (samples[count], samples[count + 1], samples[count + 2]) = pixel(x, y)
          count += 3
        }
      }
    }
  }

  static func grey(width: Int, height: Int, value: (_ x: Int, _ y: Int) -> UInt8) -> Scene {
    Scene(width: width, height: height) { x, y in
      let level = value(x, y)
      return (level, level, level)
    }
  }

  /// Black at the left, white at the right.
  static func fading(width: Int, height: Int) -> Scene {
    grey(width: width, height: height) { x, _ in UInt8(255 * x / (width - 1)) }
  }

  /// Parses a portable pixmap of eight bits, P6.
  init(pixmap: [UInt8]) throws {
    let fields = pixmap.split(separator: UInt8(ascii: "\n"), maxSplits: 3, omittingEmptySubsequences: false)
    let size = String(decoding: fields[1], as: UTF8.self).split(separator: " ").compactMap { Int($0) }
    try #require(fields.count == 4 && size.count == 2)
    (width, height, rgb) = (size[0], size[1], Array(fields[3]))
    try #require(rgb.count == 3 * width * height)
  }

  /// A scene whose turned and mirrored copies all differ: slopes of light, and a bright corner.
  static func landscape(width: Int, height: Int) -> Scene {
    Scene(width: width, height: height) { x, y in
      let isCorner = x < width / 4 && y < height / 3
      let wave = 20 * sin(Double(x) / 9) * sin(Double(y) / 7)
      return isCorner
        ? (240, 200, 30) : (UInt8(40 + 150 * x / width), UInt8(90 + Int(wave)), UInt8(30 + 180 * y / height))
    }
  }

  /// Incompressible noise, which depends on the seed.
  static func noise(width: Int, height: Int, seed: UInt64) -> Scene {
    var random = SeededRandom(seed: seed)
    return Scene(width: width, height: height) { _, _ in
      let bits = random.next()
      return (UInt8(bits & 255), UInt8(bits >> 8 & 255), UInt8(bits >> 16 & 255))
    }
  }

  /// Six plain colours, few enough for any palette.
  static func flag(width: Int, height: Int) -> Scene {
    let colors: [(UInt8, UInt8, UInt8)] = [
      (200, 30, 40), (250, 250, 250), (30, 60, 170), (20, 20, 20), (240, 200, 30), (60, 150, 80),
    ]
    return Scene(width: width, height: height) { x, y in colors[x * 3 / width + y * 2 / height * 3] }
  }

  /// Plain colours side by side, each a square.
  static func patches(_ colors: [[UInt8]]) -> Scene {
    Scene(width: patchSide * colors.count, height: patchSide) { x, _ in
      let color = colors[x / patchSide]
      return (color[0], color[1], color[2])
    }
  }

  private static let patchSide = 48

  /// The mean of the middle of a patch, without influence of its neighbours.
  func mean(ofPatch index: Int) -> [Double] {
    let (start, margin) = (index * Self.patchSide, Self.patchSide / 3)
    return part(x: start + margin, y: margin, width: margin, height: margin).mean
  }

  func part(x left: Int, y top: Int, width: Int, height: Int) -> Scene {
    Scene(width: width, height: height) { self[left + $0, top + $1] }
  }

  /// The same on grey paper, with another scene's brightness as opacity.
  func covering(_ paper: Int = 255, through alpha: Scene) -> Scene {
    var copy = self
    for index in rgb.indices {
      let cover = Int(alpha.rgb[index])
      let sum = Int(rgb[index]) * cover + paper * (255 - cover)
      copy.rgb[index] = UInt8((sum + 127) / 255)
    }
    return copy
  }

  static func plain(_ red: UInt8, _ green: UInt8, _ blue: UInt8) -> Scene {
    Scene(width: 64, height: 48) { _, _ in (red, green, blue) }
  }

  /// The stored picture that EXIF's `orientation` turns into this one.
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

  /// The mean difference of all samples, in levels of 255; infinite for different sizes.
  func difference(from other: Scene) -> Double {
    guard width == other.width, height == other.height else { return .infinity }
    var sum = 0
    rgb.withUnsafeBufferPointer { mine in
      other.rgb.withUnsafeBufferPointer { others in
        for index in 0..<mine.count { sum += abs(Int(mine[index]) - Int(others[index])) }
      }
    }
    return Double(sum) / Double(rgb.count)
  }

  var mean: [Double] {
    var sums = [0, 0, 0]
    rgb.withUnsafeBufferPointer { samples in
      for index in 0..<samples.count { sums[index % 3] += Int(samples[index]) }
    }
    return sums.map { Double($0) / Double(width * height) }
  }
}
