import Foundation
import Imaging
import Messages
import Testing

@Suite struct RefusalTests {
  private func expect(
    _ error: DeliveryError?, _ cause: Cause, saying words: String..., at location: SourceLocation = #_sourceLocation
  ) {
    #expect(error?.cause == cause, sourceLocation: location)
    for word in words {
      #expect(error?.sentence.contains(word) == true, "\(error?.sentence ?? "")", sourceLocation: location)
    }
    #expect(error?.sentence.contains("\n") == false, sourceLocation: location)
  }

  @Test("A file with too many bytes is refused with both numbers")
  func bytes() throws {
    let photo = try Camera().photograph(.landscape(width: 64, height: 48))
    let error = refusal(of: photo) { $0.inputBytes = photo.count - 1 }
    expect(error, .imageLimits, saying: "\(photo.count)", "\(photo.count - 1)")
    #expect(try prepare(photo) { $0.inputBytes = photo.count }.width == 64)
  }

  @Test(
    "A header that claims a giant is refused before anything is decoded",
    arguments: [(65500, 65500), (65535, 1527)])
  func pixels(width: Int, height: Int) throws {
    let photo = try Camera().photograph(.landscape(width: 64, height: 48)).claiming(width: width, height: height)
    expect(refusal(of: photo), .imageLimits, saying: "\(width)x\(height)", "100000000")
  }

  @Test("A picture of just as many pixels as are allowed is decoded")
  func pixelLimit() throws {
    let photo = try Camera().photograph(.landscape(width: 64, height: 48))
    #expect(try prepare(photo) { $0.pixels = 64 * 48 }.width == 64)
    expect(refusal(of: photo) { $0.pixels = 64 * 48 - 1 }, .imageLimits, saying: "3072", "3071")
  }

  /// A progressive photo whose last scan is repeated `count` times.
  private func scanBomb(_ count: Int) throws -> [UInt8] {
    let photo = try Camera().photograph(.landscape(width: 64, height: 48), ["-progressive"])
    let starts = photo.indices.filter { photo[$0...].starts(with: [0xFF, 0xDA]) }
    let scan = photo[try #require(starts.last)..<photo.count - 2]
    return photo.dropLast(2) + Array(repeating: scan, count: count).joined() + [0xFF, 0xD9]
  }

  @Test("A photo of hundreds of scans is refused")
  func scans() throws {
    expect(refusal(of: try scanBomb(300)), .imageLimits, saying: "310 scans", "100")
  }

  @Test("Scans and pixels count together")
  func pixelScans() throws {
    let photo = try scanBomb(0)
    #expect(try prepare(photo) { $0.pixelScans = 10 * 64 * 48 }.width == 64)
    expect(refusal(of: photo) { $0.pixelScans = 10 * 64 * 48 - 1 }, .imageLimits, saying: "10 scans")
  }

  @Test("A photo that takes too much memory to decode is refused")
  func memory() throws {
    let photo = try Camera().photograph(.landscape(width: 1200, height: 900), ["-progressive"])
    #expect(try prepare(photo).width == 1200)
    expect(refusal(of: photo) { $0.decoderBytes = 1_000_000 }, .imageLimits, saying: "1000000 bytes of memory")
  }

  @Test("An arithmetic-coded JPEG is refused by name")
  func arithmetic() throws {
    let photo = try Camera().photograph(.landscape(width: 64, height: 48), ["-arithmetic"])
    expect(refusal(of: photo), .unsupportedImage, saying: "arithmetic-coded JPEG")
  }

  @Test("Kinds of JPEG that are not decoded are refused by name")
  func kinds() throws {
    let photo = try Camera().photograph(.landscape(width: 64, height: 48))
    let frame = try #require(photo.offset(of: [0xFF, 0xC0, 0x00, 0x11]))
    func changed(_ offset: Int, to value: UInt8) -> [UInt8] {
      var copy = photo
      copy[frame + offset] = value
      return copy
    }
    expect(refusal(of: changed(4, to: 12)), .unsupportedImage, saying: "12-bit JPEG")
    expect(refusal(of: changed(1, to: 0xC3)), .unsupportedImage, saying: "lossless JPEG")
    expect(refusal(of: changed(1, to: 0xC5)), .unsupportedImage, saying: "hierarchical JPEG")
    expect(refusal(of: changed(9, to: 2)), .unsupportedImage, saying: "2 colour components")
    expect(refusal(of: try photo.claiming(width: 64, height: 0)), .unsupportedImage, saying: "how large")
  }

  @Test("A JPEG of tables alone is refused")
  func tables() {
    expect(refusal(of: [0xFF, 0xD8, 0xFF, 0xD9]), .unsupportedImage, saying: "no picture")
  }

  @Test(
    "Another format is refused by its name, told by its contents",
    arguments: [
      ("II*\0", "TIFF"), ("\0\0\0\u{C}JXL \r\n\u{87}\n", "JPEG XL"), ("\u{FF}\n", "JPEG XL"),
      ("BM\0\0\0\0\0\0\0\0", "BMP"), ("%PDF-1.7", "PDF"),
    ])
  func formats(beginning: String, name: String) {
    let bytes = beginning.unicodeScalars.map { UInt8(truncatingIfNeeded: $0.value) } + [UInt8](repeating: 0, count: 40)
    expect(refusal(of: bytes), .unsupportedImage, saying: "this is a", name)
  }

  @Test(
    "What is no image at all is refused",
    arguments: ["hello, world", "\0\0\0\0\0\0\0\0", "\0\0\0\u{18}ftypabcdefgh"])
  func noImage(text: String) {
    expect(refusal(of: Array(text.utf8)), .unsupportedImage, saying: "not an image")
  }

  /// A TIFF whose first directory has fields of these tags, each with the number 1.
  private func tiff(_ tags: [UInt16]) -> [UInt8] {
    let fields = tags.flatMap { [UInt8($0 & 255), UInt8($0 >> 8), 4, 0, 1, 0, 0, 0, 1, 0, 0, 0] }
    return Array("II*\0".utf8) + [8, 0, 0, 0, UInt8(tags.count), 0] + fields + [0, 0, 0, 0]
  }

  @Test("The raw file of a camera is refused by name, with the remedy, and a TIFF is not taken for one")
  func raw() {
    let beginnings: [(String, String)] = [
      ("\0\0\0\u{18}ftypcrx isom", "CR3"), ("II*\0\u{10}\0\0\0CR\u{2}\0", "CR2"), ("FUJIFILMCCD-RAW 0201", "RAF"),
      ("IIRO\u{8}\0\0\0", "ORF"), ("IIU\0\u{18}\0\0\0", "RW2"), ("FOVb\0\0", "X3F"),
    ]
    for (beginning, name) in beginnings {
      let bytes =
        beginning.unicodeScalars.map { UInt8(truncatingIfNeeded: $0.value) } + [UInt8](repeating: 0, count: 40)
      expect(
        refusal(of: bytes), .unsupportedImage, saying: "the raw file of a camera (\(name))", "JPEG that the camera")
    }
    expect(refusal(of: tiff([0x00FE, 0xC612])), .unsupportedImage, saying: "raw file of a camera (DNG)")
    expect(refusal(of: tiff([0x010F, 0x014A])), .unsupportedImage, saying: "raw file of a camera (TIFF)")
    expect(refusal(of: tiff([0x0100, 0x010F])), .unsupportedImage, saying: "this is a TIFF")
  }

  @Test(
    "A video, an archive and a web page are refused by their names",
    arguments: [
      ("\0\0\0\u{18}ftypmp42isom", "a video (MP4), and a photo is wanted"), ("\0\0\0\u{14}ftypqt  ", "a video (MOV)"),
      ("\u{1A}E\u{DF}\u{A3}\u{1}", "a video (Matroska)"), ("RIFF\0\0\0\0AVI LIST", "a video (AVI)"),
      ("PK\u{3}\u{4}\u{14}", "a ZIP archive"), ("\n<!DOCTYPE HTML><html>", "a web page (HTML)"),
    ])
  func strangers(beginning: String, name: String) {
    let bytes = beginning.unicodeScalars.map { UInt8(truncatingIfNeeded: $0.value) } + [UInt8](repeating: 0, count: 40)
    expect(refusal(of: bytes), .unsupportedImage, saying: "this is \(name)", "send a JPEG")
  }

  @Test("A whole JPEG whose data were damaged is not said to end early, and a cut one is")
  func flipped() throws {
    let photo = try Camera().photograph(.landscape(width: 200, height: 150))
    var sentences = Set<String>()
    for place in stride(from: photo.count / 4, to: photo.count - 50, by: 97) {
      var broken = photo
      broken[place] ^= 0x55
      // Some only show another picture.
      do { _ = try prepare(broken) } catch { sentences.insert("\(error)") }
    }
    #expect(sentences.contains { $0.contains("damaged") && $0.contains("premature end of data segment") })
    #expect(!sentences.contains { $0.contains("ends before its picture") })
    expect(refusal(of: Array(photo.prefix(photo.count / 2))), .truncatedImage, saying: "ends before its picture does")
  }

  @Test(
    "A JPEG that lacks only its end marker is sent, and one that lacks its last scan is not", arguments: [false, true])
  func withoutEnd(isProgressive: Bool) throws {
    let camera = try Camera()
    let scene = Scene.landscape(width: 96, height: 64)
    let photo = isProgressive ? try camera.photograph(scene, ["-progressive"]) : try camera.photograph(scene)
    #expect(photo.suffix(2) == [0xFF, 0xD9])
    let cut = Array(photo.dropLast(2))
    #expect(try prepare(cut).width == 96)
    #expect(try prepare(cut) { $0.longestSide = 48 }.width == 48)
    let scans = photo.indices.dropLast().filter { photo[$0] == 0xFF && photo[$0 + 1] == 0xDA }
    #expect(isProgressive == (scans.count > 1))
    for scan in scans.dropFirst() {
      expect(refusal(of: Array(photo.prefix(scan))), .truncatedImage, saying: "ends before its picture does")
    }
  }

  @Test("A comment whose length is less than its own is passed over", arguments: [UInt8(0), 1])
  func shortComment(length: UInt8) throws {
    var photo = try Camera().photograph(.landscape(width: 64, height: 48))
    photo.insert(contentsOf: [0xFF, 0xFE, 0, length] + Array("words".utf8), at: 2)
    let prepared = try prepare(photo)
    #expect(prepared.width == 64)
    #expect(prepared.jpeg.offset(of: Array("words".utf8)) == nil)
  }

  @Test("An empty file is refused")
  func empty() { expect(refusal(of: []), .unsupportedImage, saying: "empty") }
}
