import CPixels
import Glibc

/// The picture in some thirty characters: a few waves of light and colour, which chat clients show until the photo is
/// loaded. Four waves in one direction and three in the other. Source of the format: https://blurha.sh, "Algorithm".
struct Blurhash {
  let text: String

  private typealias Color = SIMD3<Double>
  private static let digits = Array(
    "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz#$%*+,-.:;=?@[]^_{|}~")
  /// Pixels of the longer side that are used; more make no visible difference.
  private static let side = 32

  init(of picture: Picture) {
    let small = picture.resized(to: picture.size.fitted(into: Self.side))
    let pixels = Self.light(of: small)
    let (across, down) = small.size.width >= small.size.height ? (4, 3) : (3, 4)
    var waves: [Color] = []
    for v in 0..<down {
      for u in 0..<across { waves.append(Self.wave(u, v, of: pixels, small.size)) }
    }
    let largest = waves.dropFirst().map { max(abs($0.x), abs($0.y), abs($0.z)) }.max() ?? 0
    let step = max(0, min(82, Int((largest * 166 - 0.5).rounded(.down))))
    let scale = Double(step + 1) / 166
    var text = Self.encode(across - 1 + (down - 1) * 9, 1) + Self.encode(step, 1)
    let mean = waves[0]
    text += Self.encode(Self.level(mean.x) << 16 | Self.level(mean.y) << 8 | Self.level(mean.z), 4)
    for wave in waves.dropFirst() {
      let parts = [wave.x, wave.y, wave.z].map { part in
        max(0, min(18, Int((Self.signedRoot(part / scale) * 9 + 9.5).rounded(.down))))
      }
      text += Self.encode(parts[0] * 361 + parts[1] * 19 + parts[2], 2)
    }
    self.text = text
  }

  /// The share of a wave in the picture.
  private static func wave(_ u: Int, _ v: Int, of pixels: [Color], _ size: PixelSize) -> Color {
    var sum = Color()
    for y in 0..<size.height {
      let down: Double = cos(Double.pi * Double(v) * Double(y) / Double(size.height))
      for x in 0..<size.width {
        let factor: Double = down * cos(Double.pi * Double(u) * Double(x) / Double(size.width))
        sum += pixels[y * size.width + x] * factor
      }
    }
    let norm: Double = u == 0 && v == 0 ? 1 : 2
    return sum * (norm / Double(size.pixels))
  }

  /// Light from 0 to 1, row by row.
  private static func light(of picture: Picture) -> [Color] {
    let width = picture.size.width
    var row = [UInt8](repeating: 0, count: 3 * width)
    var pixels: [Color] = []
    for y in 0..<picture.size.height {
      let planes = picture.planes
      if planes.count == 3 {
        cpixels_ycc_to_rgb(
          planes[0].row(y), planes[1].row(y / 2), planes[2].row(y / 2), YCCEncoding.jfif.factors, &row, Int32(width))
      } else {
        for x in 0..<width { for channel in 0..<3 { row[3 * x + channel] = planes[0].row(y)[x] } }
      }
      for x in 0..<width { pixels.append(Color(light(row[3 * x]), light(row[3 * x + 1]), light(row[3 * x + 2]))) }
    }
    return pixels
  }

  /// sRGB's curve (IEC 61966-2-1), and its inverse.
  private static func light(_ level: UInt8) -> Double {
    let value = Double(level) / 255
    return value <= 0.04045 ? value / 12.92 : pow((value + 0.055) / 1.055, 2.4)
  }

  private static func level(_ light: Double) -> Int {
    let value = max(0, min(1, light))
    return Int(((value <= 0.0031308 ? value * 12.92 : 1.055 * pow(value, 1 / 2.4) - 0.055) * 255).rounded())
  }

  private static func signedRoot(_ value: Double) -> Double { value < 0 ? -(-value).squareRoot() : value.squareRoot() }

  private static func encode(_ value: Int, _ count: Int) -> String {
    var (rest, text) = (value, [Character]())
    for _ in 0..<count {
      text.insert(digits[rest % 83], at: 0)
      rest /= 83
    }
    return String(text)
  }
}
