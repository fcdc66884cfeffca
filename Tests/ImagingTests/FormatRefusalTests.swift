import Foundation
import Imaging
import Messages
import TestSupport
import Testing

/// Files of the other formats with one error: too large, too many of something, or broken in one place.
@Suite struct FormatRefusalTests {

  private func expect(
    _ photo: [UInt8], _ cause: Cause, saying words: String..., at location: SourceLocation = #_sourceLocation
  ) {
    let error = refusal(of: photo, at: location)
    #expect(error?.cause == cause, "\(error?.sentence ?? "")", sourceLocation: location)
    for word in words {
      #expect(error?.sentence.contains(word) == true, "\(error?.sentence ?? "")", sourceLocation: location)
    }
  }

  @Test(
    "A PNG whose header claims a giant is refused by its size, interlaced or not",
    arguments: [(65500, 65500), (1, 100_000_001), (100_000_001, 1), (2_147_483_647, 2_147_483_647)], [false, true])
  func giantPNG(size: (width: Int, height: Int), isInterlaced: Bool) {
    let file = PNGFile(
      width: size.width, height: size.height, isInterlaced: isInterlaced, data: Deflate.stored([0, 0, 0, 0]))
    expect(file.bytes, .imageLimits, saying: "\(size.width)x\(size.height)")
  }

  @Test("A PNG whose size is beyond the format's own numbers is refused")
  func absurdPNG() {
    let file = PNGFile(width: 0xFFFF_FFFF, height: 0xFFFF_FFFF, data: Deflate.stored([0]))
    expect(file.bytes, .imageLimits)
  }

  @Test("A GIF whose screen or frame is a giant is refused by its size")
  func giantGIF() throws {
    let photo = try Camera().gif([.flag(width: 60, height: 40)])
    var screen = photo
    screen.replaceSubrange(6..<10, with: [0xFF, 0xFF, 0xFF, 0xFF])
    expect(screen, .imageLimits, saying: "65535x65535")
    let descriptor = try #require(photo.offset(of: [0x2C, 0, 0, 0, 0, 60, 0, 40, 0]))
    var frame = photo
    frame.replaceSubrange(descriptor + 5..<descriptor + 9, with: [0xFF, 0xFF, 0xFF, 0xFF])
    expect(frame, .imageLimits, saying: "65535x65535")
  }

  @Test("A WebP whose header claims a giant is refused by its size")
  func giantWebP() throws {
    let lossy = try FormatSample.named("WebP").bytes
    let canvas = try #require(lossy.offset(of: Array("VP8X".utf8)))
    var extended = lossy
    extended.replaceSubrange(canvas + 12..<canvas + 18, with: [0xFE, 0x3F, 0, 0xFE, 0x3F, 0])
    let start = try #require(extended.offset(of: [0x9D, 0x01, 0x2A]))
    extended.replaceSubrange(start + 3..<start + 7, with: [0xFF, 0x3F, 0xFF, 0x3F])
    expect(extended, .imageLimits, saying: "16383x16383")
    let moving = try FormatSample.named("moving WebP").bytes
    let animated = try #require(moving.offset(of: Array("VP8X".utf8)))
    var wide = moving
    wide.replaceSubrange(animated + 12..<animated + 18, with: [0xFE, 0xFF, 0, 0xFE, 0xFF, 0])
    expect(wide, .imageLimits, saying: "65535x65535")
  }

  @Test("A HEIC whose header claims a giant is refused by its size")
  func giantHEIC() throws {
    var photo = try Camera().heic(Camera().png(.landscape(width: 256, height: 128)))
    let extent = try #require(photo.offset(of: Array("ispe".utf8)))
    photo.replaceSubrange(extent + 8..<extent + 16, with: PNGFile.number(65500) + PNGFile.number(65500))
    expect(photo, .imageLimits)
  }

  @Test("A picture of no width or height is refused by every format")
  func nothing() throws {
    for size in [(0, 5), (5, 0), (0, 0)] {
      expect(
        PNGFile(width: size.0, height: size.1, data: Deflate.stored([0])).bytes, .unsupportedImage, saying: "no pixels")
    }
    var gif = try Camera().gif([.flag(width: 60, height: 40)])
    let descriptor = try #require(gif.offset(of: [0x2C, 0, 0, 0, 0, 60, 0, 40, 0]))
    gif.replaceSubrange(descriptor + 5..<descriptor + 9, with: [0, 0, 0, 0])
    expect(gif, .unsupportedImage, saying: "no pixels")
    var heic = try Camera().heic(Camera().png(.landscape(width: 256, height: 128)))
    let extent = try #require(heic.offset(of: Array("ispe".utf8)))
    heic.replaceSubrange(extent + 8..<extent + 16, with: [UInt8](repeating: 0, count: 8))
    let error = refusal(of: heic)
    #expect(error.map { FormatSample.causes.contains($0.cause) } == true)
    var webp = try FormatSample.named("WebP with alpha").bytes
    let start = try #require(webp.offset(of: [0x9D, 0x01, 0x2A]))
    webp.replaceSubrange(start + 3..<start + 7, with: [0, 0, 0, 0])
    #expect(refusal(of: webp).map { FormatSample.causes.contains($0.cause) } == true)
  }

  @Test("A picture whose decoder needs more memory than there is for it is refused by the name of its format")
  func memory() throws {
    let camera = try Camera()
    let scene = Scene.landscape(width: 400, height: 300)
    let png = try camera.png(scene, ["-interlace", "PNG", "-define", "png:color-type=2"])
    for (photo, format) in [
      (png, "PNG"), (try camera.webp(png), "WebP"), (try camera.webp(png, ["-lossless"]), "WebP"),
      (try camera.heic(png), "HEIC"), (try camera.avif(png), "AVIF"),
    ] {
      let error = refusal(of: photo) { $0.decoderBytes = 290_000 }
      #expect(error?.cause == .imageLimits)
      #expect(error?.sentence.contains(format) == true && error?.sentence.contains("290000 bytes of memory") == true)
    }
    #expect(try prepare(png) { $0.decoderBytes = 400 * 300 * 3 }.width == 400)
    // A picture that is not interlaced is decoded row by row.
    #expect(try prepare(camera.png(scene)) { $0.decoderBytes = 300_000 }.width == 400)
  }

  private static let bomb = 258 * 390_000 + 1

  /// A hundred megabytes of zeros in each compressible chunk.
  private static func bombs() -> [(name: String, photo: [UInt8], stripped: [String])] {
    let pixels = Deflate.stored((0..<30).flatMap { _ in [UInt8](repeating: 0, count: 1 + 3 * 40) })
    let plain = PNGFile(width: 40, height: 30, data: pixels)
    // A profile with a valid header that claims this size.
    var header = Array(MatrixProfile.p3.icc[..<132])
    header.replaceSubrange(0..<4, with: PNGFile.number(bomb + 132))
    func packed(_ key: String, _ data: [UInt8]) -> [UInt8] { Array(key.utf8) + [0, 0] + data }
    let zeros = Deflate.zeros(bomb)
    return [
      ("text", plain.inserting("zTXt", packed("Comment", zeros)).bytes, ["comment"]),
      ("world text", plain.inserting("iTXt", Array("Comment\0\u{1}\0\0\0".utf8) + zeros).bytes, ["comment"]),
      ("profile of zeros", plain.inserting("iCCP", packed("p", zeros)).bytes, ["colour profile"]),
      (
        "profile", plain.inserting("iCCP", packed("p", Deflate.zeros(bomb, after: header))).bytes, ["colour profile"]
      ),
      ("picture", PNGFile(width: 40, height: 30, data: Deflate.zeros(bomb)).bytes, []),
    ]
  }

  @Test("A hundred megabytes of zeros in a few bytes are skipped, and cost no memory")
  func unpacking() async {
    await #expect(processExitsWith: .success) {
      /// The peak memory of this process, in bytes.
      func peak() throws -> Int {
        let status = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
        let line = try #require(status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") })
        return try 1024 * #require(line.split(separator: " ").compactMap { Int($0) }.first)
      }
      let bombs = FormatRefusalTests.bombs()
      _ = try prepare(Camera().png(.landscape(width: 40, height: 30)))
      let before = try peak()
      for bomb in bombs {
        let prepared = try prepare(bomb.photo)
        #expect((prepared.width, prepared.height) == (40, 30), "\(bomb.name)")
        #expect(prepared.stripped == bomb.stripped, "\(bomb.name)")
      }
      let grown = try peak() - before
      #expect(grown < 20_000_000, "\(grown) bytes were needed")
    }
  }

  @Test("A GIF of ten thousand frames shows its first")
  func gifFrames() throws {
    let colors: [UInt8] = [200, 60, 50, 10, 200, 30]
    let header = Array("GIF89a".utf8) + [1, 0, 1, 0, 0x80, 0, 0] + colors
    func frame(_ code: UInt8) -> [UInt8] { [0x2C, 0, 0, 0, 0, 1, 0, 1, 0, 0, 2, 2, code, 1, 0] }
    let photo = header + frame(0x44) + (1..<10_000).flatMap { _ in frame(0x4C) } + [0x3B]
    let prepared = try prepare(photo)
    #expect(prepared.stripped == ["further frames"])
    let seen = try Camera().look(at: prepared.jpeg)
    #expect(zip(seen.mean, [200, 60, 50]).allSatisfy { abs($0 - $1) <= 3 })
  }

  @Test("A WebP of ten thousand frames shows its first")
  func webpFrames() throws {
    let photo = try FormatSample.named("moving WebP").bytes
    let first = try #require(photo.offset(of: Array("ANMF".utf8)))
    let second = try #require(photo.offset(of: Array("ANMF".utf8), from: first + 4))
    let frame = Array(photo[second...])
    let whole = photo + Array(repeating: frame, count: min(9998, 9_000_000 / frame.count)).joined()
    let sized = Array(whole[..<4]) + PNGFile.number(whole.count - 8).reversed() + whole[8...]
    let prepared = try prepare(sized)
    #expect(prepared.stripped == ["further frames"])
    #expect(prepared.width == 72)
  }

  @Test("A GIF of hundreds of thousands of comments shows its picture, and is refused when it has none")
  func gifBlocks() throws {
    let photo = try FormatSample.named("GIF").bytes
    let comments = (0..<200_000).flatMap { _ in [0x21, 0xFE, 1, 65, 0] as [UInt8] }
    let start = 13 + 3 << (Int(photo[10] & 7) + 1)
    let prepared = try prepare(photo[..<start] + comments + photo[start...])
    #expect(prepared.stripped == ["comment"])
    let error = refusal(of: photo[..<start] + comments + [0x3B])
    #expect(error?.cause == .unsupportedImage && error?.sentence.contains("GIF") == true)
  }

  @Test("A PNG of more chunks than any program writes is decided")
  func pngChunks() throws {
    let file = PNGFile(try Camera().png(.landscape(width: 40, height: 30)))
    let chunk = PNGFile.Chunk(name: "teXt", data: [])
    var many = file
    many.chunks.insert(contentsOf: Array(repeating: chunk, count: 50_000), at: 1)
    #expect(try prepare(many.bytes).stripped == ["application data"])
    many.chunks.insert(contentsOf: Array(repeating: chunk, count: 60_000), at: 1)
    #expect(refusal(of: many.bytes)?.cause == .truncatedImage)
  }

  @Test("A HEIC that lists too many items is refused by their number, however it lists them")
  func heicItems() throws {
    let photo = try Camera().heic(Camera().png(.landscape(width: 256, height: 128)))
    let list = try #require(photo.offset(of: Array("iinf".utf8)))
    var claiming = photo
    claiming.replaceSubrange(list + 8..<list + 10, with: [0xEA, 0x60])
    expect(claiming, .imageLimits, saying: "HEIC", "60000 items", "2000")
    // A second, short list after the long one.
    let start = list - 4
    let length = photo[start..<start + 4].reduce(0) { $0 << 8 | Int($1) }
    var doubled = claiming
    doubled.insert(contentsOf: photo[start..<start + length], at: start + length)
    let meta = try #require(photo.offset(of: Array("meta".utf8))) - 4
    let size = photo[meta..<meta + 4].reduce(0) { $0 << 8 | Int($1) }
    doubled.replaceSubrange(meta..<meta + 4, with: PNGFile.number(size + length))
    expect(doubled, .imageLimits, saying: "60000 items")
    #expect(try prepare(photo) { $0.items = 1 }.width == 256)
    #expect(refusal(of: photo) { $0.items = 0 }?.cause == .imageLimits)
  }

  @Test("A PNG with a wrong checksum, two headers, no picture or an unknown part that it calls needed is refused")
  func brokenPNG() throws {
    let photo = try Camera().png(.landscape(width: 40, height: 30))
    let file = PNGFile(photo)
    var flipped = photo
    let data = try #require(photo.offset(of: Array("IDAT".utf8)))
    flipped[data + 20] ^= 0x40
    expect(flipped, .truncatedImage, saying: "PNG", "damaged")
    expect(file.inserting("IHDR", file.chunks[0].data).bytes, .truncatedImage, saying: "PNG")
    expect(file.inserting("NEED", [1, 2, 3]).bytes, .truncatedImage, saying: "PNG")
    var empty = file
    empty.chunks.removeAll { $0.name == "IDAT" }
    expect(empty.bytes, .truncatedImage, saying: "PNG")
    var half = file
    half.chunks = file.chunks.map { chunk in
      chunk.name == "IDAT" ? PNGFile.Chunk(name: "IDAT", data: Array(chunk.data[..<(chunk.data.count / 2)])) : chunk
    }
    expect(half.bytes, .truncatedImage, saying: "PNG")
    let colors = Deflate.stored([UInt8](repeating: 0, count: 30 * (1 + 40)))
    let palette = PNGFile(width: 40, height: 30, color: 3, data: colors)
    let good = palette.inserting("PLTE", [0, 0, 0])
    #expect(try prepare(good.bytes).width == 40)
    expect(palette.bytes, .truncatedImage, saying: "PNG", "no palette")
    let long = palette.inserting("PLTE", [UInt8](repeating: 0, count: 769))
    expect(long.bytes, .truncatedImage, saying: "PNG", "palette is invalid")
    expect(good.inserting("PLTE", [0, 0, 0]).bytes, .truncatedImage, saying: "PNG", "two palettes")
    // A kind of block and a filter that there are not, and rows in two parts with a text between them.
    let rows = Deflate.stored([5] + [UInt8](repeating: 0, count: 30 * (1 + 3 * 40) - 1))
    let block = PNGFile(width: 40, height: 30, data: [0x78, 1, 7] + [UInt8](repeating: 0, count: 4000))
    expect(block.bytes, .truncatedImage, saying: "PNG", "make no sense")
    expect(PNGFile(width: 40, height: 30, data: rows).bytes, .truncatedImage, saying: "PNG")
    let rest = Array(file.imageData[half.imageData.count...])
    let apart = half.inserting("tEXt", [97, 0, 98], before: "IEND").inserting("IDAT", rest, before: "IEND")
    expect(apart.bytes, .truncatedImage, saying: "PNG")
    for (depth, color) in [(3, 2), (8, 5), (1, 6), (32, 0)] as [(UInt8, UInt8)] {
      var odd = file
      odd.chunks[0].data.replaceSubrange(8..<10, with: [depth, color])
      expect(odd.bytes, .truncatedImage, saying: "PNG")
    }
  }

  @Test("A GIF without a picture is refused for its size or for that, and is not said to be cut off")
  func emptyGIF() {
    func header(_ side: UInt8) -> [UInt8] {
      Array("GIF89a".utf8) + [side, side, side, side, 0x80, 0, 0, 1, 2, 3, 4, 5, 6]
    }
    expect(header(9) + [0x3B], .unsupportedImage, saying: "GIF has no picture")
    expect(header(0) + [0x3B], .unsupportedImage, saying: "no pixels")
    expect(header(255) + [0x3B], .imageLimits, saying: "65535x65535")
    let frame: [UInt8] = [0x2C, 0, 0, 0, 0, 0, 0, 5, 0, 0, 2, 1, 0x2C, 0, 0x3B]
    expect(header(9) + frame, .unsupportedImage, saying: "no pixels")
    expect(header(9), .truncatedImage, saying: "ends before its picture does")
  }

  @Test("A GIF without colours or with codes beyond its table is refused")
  func brokenGIF() throws {
    let header = Array("GIF89a".utf8) + [2, 0, 2, 0, 0, 0, 0]
    expect(header + [0x2C, 0, 0, 0, 0, 2, 0, 2, 0, 0, 2, 2, 0x44, 1, 0, 0x3B], .truncatedImage, saying: "GIF")
    let colors = Array("GIF89a".utf8) + [2, 0, 2, 0, 0x80, 0, 0, 1, 2, 3, 4, 5, 6]
    expect(colors + [0x2C, 0, 0, 0, 0, 2, 0, 2, 0, 0, 2, 2, 0xFF, 0xFF, 0, 0x3B], .truncatedImage, saying: "GIF")
    expect(colors + [0x2C, 0, 0, 0, 0, 2, 0, 2, 0, 0, 12, 2, 0x44, 1, 0, 0x3B], .truncatedImage, saying: "GIF")
  }

  @Test("Colours beyond the table of a GIF are decided")
  func beyondTheTable() throws {
    // The codes 4, 3, 3, 3, 3, 5 with a table of two colours, which lacks the third and fourth.
    let photo =
      Array("GIF89a".utf8) + [2, 0, 2, 0, 0x80, 0, 0, 1, 2, 3, 4, 5, 6, 0x2C, 0, 0, 0, 0, 2, 0, 2, 0, 0, 2]
      + [3, 0xDC, 0xB6, 0x05, 0, 0x3B]
    decide(photo, "GIF")
  }

  @Test("A HEIC without pictures, without data or of another codec is refused by its name")
  func brokenHEIC() throws {
    let photo = try Camera().heic(Camera().png(.landscape(width: 256, height: 128)))
    let header = Array(photo[..<Int(photo[3])])
    expect(header, .truncatedImage, saying: "HEIC")
    expect(header.addingBox("meta", [0, 0, 0, 0]), .truncatedImage, saying: "HEIC")
    var other = photo
    let codec = try #require(photo.offset(of: Array("hvc1".utf8)))
    other.replaceSubrange(codec..<codec + 4, with: Array("vvc1".utf8))
    let error = refusal(of: other)
    #expect(error?.sentence.contains("HEIC") == true, "\(error?.sentence ?? "")")
    #expect(error.map { [.unsupportedImage, .truncatedImage].contains($0.cause) } == true)
  }
}
