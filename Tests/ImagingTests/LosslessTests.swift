import Imaging
import Testing

@Suite struct LosslessTests {
  @Test(
    "A JPEG that fits keeps every pixel as it is",
    arguments: [
      ["-quality", "90"], ["-quality", "70", "-progressive"], ["-quality", "95", "-sample", "1x1"],
      ["-quality", "85", "-sample", "2x1", "-restart", "1"], ["-quality", "80", "-grayscale"],
      ["-quality", "97", "-sample", "4x2"],
    ])
  func identical(options: [String]) throws {
    let camera = try Camera()
    let photo = try camera.photograph(.landscape(width: 333, height: 222), options, tags: ["Make=PLANTED"])
    let prepared = try prepare(photo)
    #expect(prepared.isLossless)
    #expect(prepared.quality == nil)
    #expect(try camera.pixels(of: prepared.jpeg) == camera.pixels(of: photo))
    #expect(!prepared.jpeg.contains("PLANTED"))
    #expect(try camera.look(at: prepared.thumbnail).width == 300)
  }

  @Test("Preparing a prepared photo again does not change it")
  func again() throws {
    let first = try prepare(Camera().photograph(.landscape(width: 2400, height: 1000)))
    #expect(!first.isLossless)
    let second = try prepare(first.jpeg)
    #expect(second.isLossless)
    let third = try prepare(second.jpeg)
    #expect(third.jpeg == second.jpeg)
    #expect(third.stripped == [])
  }

  @Test("A photo that Adobe marked as YCbCr keeps its colours without the mark")
  func adobeMarker() throws {
    let camera = try Camera()
    let scene = Scene.landscape(width: 120, height: 80)
    var photo = try camera.photograph(scene)
    // Adobe's marker instead of JFIF's; transform 1 means YCbCr.
    let jfif = try #require(photo.offset(of: [0xFF, 0xE0, 0x00, 0x10]))
    photo.replaceSubrange(
      jfif..<jfif + 18, with: [0xFF, 0xEE, 0x00, 0x0E] + Array("Adobe".utf8) + [0, 100, 0, 0, 0, 0, 1])
    let prepared = try prepare(photo)
    #expect(prepared.isLossless)
    #expect(!prepared.jpeg.contains("Adobe"))
    #expect(try camera.look(at: prepared.jpeg).difference(from: scene) < 3)
  }

  @Test("A JPEG marked as stored in RGB is encoded anew")
  func adobeMarkerRGB() throws {
    let camera = try Camera()
    let scene = Scene.landscape(width: 120, height: 80)
    let prepared = try prepare(camera.photograph(scene, ["-rgb", "-quality", "95"]))
    #expect(!prepared.isLossless)
    #expect(try camera.look(at: prepared.jpeg).difference(from: scene) < 3)
  }

  @Test("A photo without its end marker counts as whole")
  func noEndMarker() throws {
    let camera = try Camera()
    let photo = try camera.photograph(.landscape(width: 333, height: 222))
    let prepared = try prepare(Array(photo.dropLast(2)))
    #expect(try camera.pixels(of: prepared.jpeg) == camera.pixels(of: photo))
  }

  @Test("A scan header with numbers that mean nothing does no harm")
  func oddScanHeader() throws {
    let camera = try Camera()
    var photo = try camera.photograph(.landscape(width: 120, height: 80))
    let expected = try camera.look(at: photo)
    let scan = try #require(photo.offset(of: [0xFF, 0xDA, 0x00, 0x0C]))
    // The end of the spectrum: some phones write 0 instead of 63.
    photo[scan + 12] = 0
    let prepared = try prepare(photo)
    #expect(try camera.look(at: prepared.jpeg).difference(from: expected) < 3)
  }
}
