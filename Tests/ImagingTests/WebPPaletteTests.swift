import Imaging
import Testing

/// Lossless WebPs whose pixels name colours that the palette does not have.
@Suite struct WebPPaletteTests {
  /// Bits from the lowest on, as VP8L stores them.
  private struct Bits {
    private(set) var bytes: [UInt8] = []
    private var count = 0

    mutating func add(_ value: Int, _ width: Int) {
      for bit in 0..<width {
        if count % 8 == 0 { bytes.append(0) }
        bytes[count / 8] |= UInt8(value >> bit & 1) << UInt8(count % 8)
        count += 1
      }
    }

    /// A prefix code of one symbol without bits, or of two with one bit each.
    mutating func addCode(_ symbols: Int...) {
      add(1, 1)
      add(symbols.count - 1, 1)
      add(1, 1)
      for symbol in symbols { add(symbol, 8) }
    }
  }

  private static let side = 64

  /// A palette of three colours (0,0,200), (200,0,200) and (200,200,200). The left half of the picture is the first of
  /// them, and the right half is colour 3. Four pixels are in one byte.
  private func photo(hasAlpha: Bool) -> [UInt8] {
    var bits = Bits()
    for (value, width) in [(0x2F, 8), (Self.side - 1, 14), (Self.side - 1, 14), (hasAlpha ? 1 : 0, 1), (0, 3)] {
      bits.add(value, width)
    }
    // One transform, a palette of three, without a cache; then green, red, blue, alpha and distance.
    for (value, width) in [(1, 1), (3, 2), (2, 8), (0, 1)] { bits.add(value, width) }
    for _ in 0..<3 { bits.addCode(0, 200) }
    bits.addCode(0, 255)
    bits.addCode(0)
    // Differences to the colour before.
    for color in [[0, 0, 1, 1], [0, 1, 0, 0], [1, 0, 0, 0]] {
      for bit in color { bits.add(bit, 1) }
    }
    // No other transform, cache or groups of codes. Only green is used.
    bits.add(0, 3)
    bits.addCode(0, 255)
    for _ in 0..<2 { bits.addCode(0) }
    bits.addCode(255)
    bits.addCode(0)
    for _ in 0..<Self.side {
      bits.add(0, Self.side / 8)
      bits.add(0xFF, Self.side / 8)
    }
    let data = bits.bytes + (bits.bytes.count % 2 == 1 ? [0] : [])
    func number(_ value: Int) -> [UInt8] { (0..<4).map { UInt8(value >> (8 * $0) & 255) } }
    return Array("RIFF".utf8) + number(data.count + 12) + Array("WEBPVP8L".utf8) + number(bits.bytes.count) + data
  }

  /// The format says that such a pixel is transparent black. Transparent pixels are on white.
  @Test(
    "A colour that the palette lacks is transparent, or black in a picture without alpha", arguments: [false, true])
  func missingColor(hasAlpha: Bool) throws {
    let seen = try Camera().look(at: prepare(photo(hasAlpha: hasAlpha)).jpeg)
    #expect((seen.width, seen.height) == (Self.side, Self.side))
    let wanted: UInt8 = hasAlpha ? 255 : 0
    for (x, color) in [(8, [0, 0, 200] as [UInt8]), (56, [wanted, wanted, wanted])] {
      let (red, green, blue) = seen[x, 32]
      #expect(zip([red, green, blue], color).allSatisfy { abs(Int($0) - Int($1)) <= 6 }, "\((red, green, blue))")
    }
  }
}
