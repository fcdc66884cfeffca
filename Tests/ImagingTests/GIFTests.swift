import Imaging
import Messages
import Photos
import TestSupport
import Testing

/// GIFs that the specification does not allow and viewers show, made by hand.
@Suite struct GIFTests {
  private struct Made {
    var screen = (width: 16, height: 8)
    var place = (x: 0, y: 0)
    var size = (width: 16, height: 8)
    var bits = 7
    var colors: [UInt8] = (0..<128).flatMap { [UInt8(2 * $0), UInt8(255 - 2 * $0), 40] }
    /// Counts up across and down.
    var indices: [Int] { (0..<size.width * size.height).map { ($0 % size.width + $0 / size.width) * 5 % 128 } }

    private static func short(_ value: Int) -> [UInt8] { [UInt8(value & 255), UInt8(value >> 8)] }

    /// A code for each index, and the table cleared before codes become wider.
    private var codes: [UInt8] {
      var bytes: [UInt8] = []
      var (pending, count) = (0, 0)
      func put(_ code: Int) {
        pending |= code << count
        count += bits + 1
        while count >= 8 {
          bytes.append(UInt8(pending & 255))
          (pending, count) = (pending >> 8, count - 8)
        }
      }
      for (place, index) in indices.enumerated() {
        if place % ((1 << bits) - 3) == 0 { put(1 << bits) }
        put(index)
      }
      put(1 << bits + 1)
      return bytes + [UInt8(pending & 255)]
    }

    var bytes: [UInt8] {
      let parts = stride(from: 0, to: codes.count, by: 255).flatMap { start in
        let part = codes[start..<min(start + 255, codes.count)]
        return [UInt8(part.count)] + part
      }
      let screen = Array("GIF89a".utf8) + Self.short(screen.width) + Self.short(screen.height)
      let frame = [0x2C] + [place.x, place.y, size.width, size.height].flatMap(Self.short) + [0, UInt8(bits)]
      return screen + [colors.isEmpty ? 0 : 0x86, 0, 0] + colors + frame + parts + [0, 0x3B]
    }

    var shown: Scene {
      let (width, height) = (max(screen.width, place.x + size.width), max(screen.height, place.y + size.height))
      return Scene(width: width, height: height) { x, y in
        let (left, top) = (x - place.x, y - place.y)
        guard (0..<size.width).contains(left), (0..<size.height).contains(top) else { return (255, 255, 255) }
        let index = indices[top * size.width + left]
        guard !colors.isEmpty else {
          let grey = UInt8(index * 255 / (indices.max() ?? 1))
          return (grey, grey, grey)
        }
        return (colors[3 * index], colors[3 * index + 1], colors[3 * index + 2])
      }
    }
  }

  private func expect(_ made: Made, at location: SourceLocation = #_sourceLocation) throws {
    let prepared = try prepare(made.bytes)
    let seen = try Camera().look(at: prepared.jpeg)
    #expect((seen.width, seen.height) == (made.shown.width, made.shown.height), sourceLocation: location)
    let difference = seen.difference(from: made.shown)
    // Colours that change with every pixel lose some of their difference in the JPEG.
    #expect(difference < 12, "differs by \(difference)", sourceLocation: location)
  }

  @Test("Codes that begin with 8 to 12 bits are read", arguments: 7...11)
  func wideCodes(bits: Int) throws {
    try expect(Made(size: (100, 60), bits: bits))
  }

  @Test("A frame beyond the screen makes it larger, and a screen of no pixels is as large as its frame")
  func beyond() throws {
    try expect(Made(place: (20, 30), size: (64, 48)))
    try expect(Made(screen: (0, 0), size: (64, 48)))
    try expect(Made(screen: (90, 8), place: (70, 1), size: (64, 48)))
    let error = refusal(of: Made(place: (65535, 65535), size: (64, 48)).bytes)
    #expect(error?.cause == .imageLimits)
    #expect(error?.sentence.contains("65599x65583") == true)
  }

  @Test("A picture without colours is grey from black to white")
  func noColors() throws {
    try expect(Made(size: (100, 60), colors: []))
  }

  @Test("A picture that has too few pixels is damaged, and one that is cut off ends too early")
  func reasons() {
    let whole = Made(size: (100, 60)).bytes
    // A code in the middle becomes the end mark.
    var short = whole
    let data = 13 + 3 * 128 + 11
    short.replaceSubrange(data + 1..<data + 5, with: [0x80, 0x81, 0x81, 0x81])
    let damaged = refusal(of: short)
    #expect(damaged?.cause == .truncatedImage)
    #expect(damaged?.sentence.contains("this GIF is damaged (its picture has too few pixels)") == true)
    let cut = refusal(of: Array(whole.prefix(whole.count / 2)))
    #expect(cut?.sentence.contains("ends before its picture does") == true)
    for size in [(0, 8), (8, 0), (0, 0)] {
      let none = refusal(of: Made(size: size).bytes)
      #expect(none?.cause == .unsupportedImage && none?.sentence.contains("no pixels") == true)
    }
    #expect(refusal(of: Made(screen: (65535, 65535)).bytes)?.sentence.contains("65535x65535") == true)
  }
}
