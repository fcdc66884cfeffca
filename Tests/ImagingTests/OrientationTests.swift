import Imaging
import Testing

@Suite struct OrientationTests {
  @Test("A photo of any of the eight orientations stands upright", arguments: 1...8)
  func upright(orientation: Int) throws {
    let camera = try Camera()
    let scene = Scene.landscape(width: 203, height: 151)
    let photo = try camera.photograph(scene.stored(for: orientation), tags: ["Orientation=\(orientation)"])
    let prepared = try prepare(photo)
    #expect(prepared.original.orientation == orientation)
    #expect((prepared.width, prepared.height) == (203, 151))
    #expect(try camera.look(at: prepared.jpeg).difference(from: scene) < 3)
  }

  @Test("A photo of any orientation looks the same when it is made smaller", arguments: 2...8)
  func smaller(orientation: Int) throws {
    let camera = try Camera()
    let scene = Scene.landscape(width: 401, height: 299)
    let reference = try prepare(camera.photograph(scene)) { $0.longestSide = 120 }
    let photo = try camera.photograph(scene.stored(for: orientation), tags: ["Orientation=\(orientation)"])
    let prepared = try prepare(photo) { $0.longestSide = 120 }
    #expect((prepared.width, prepared.height) == (120, 89))
    #expect(try camera.look(at: prepared.jpeg).difference(from: camera.look(at: reference.jpeg)) < 1.5)
  }

  @Test("The thumbnail stands upright, too", arguments: [1, 6])
  func thumbnail(orientation: Int) throws {
    let camera = try Camera()
    let scene = Scene.landscape(width: 600, height: 400)
    let photo = try camera.photograph(scene.stored(for: orientation), tags: ["Orientation=\(orientation)"])
    let thumbnail = try camera.look(at: prepare(photo).thumbnail)
    #expect((thumbnail.width, thumbnail.height) == (300, 200))
    let half = Scene(width: 300, height: 200) { scene[2 * $0, 2 * $1] }
    #expect(thumbnail.difference(from: half) < 6)
  }

  @Test("The orientation of the embedded thumbnail counts for nothing")
  func embeddedThumbnail() throws {
    let camera = try Camera()
    let photo = try camera.photograph(
      .landscape(width: 80, height: 60), tags: ["IFD1:Orientation=6", "IFD0:Make=Camera"])
    #expect(try prepare(photo).original.orientation == 1)
  }

  @Test("An orientation beyond the eight counts for nothing", arguments: [0, 9, 65535])
  func unknown(orientation: Int) throws {
    let camera = try Camera()
    var photo = try camera.photograph(.landscape(width: 80, height: 60), tags: ["Orientation=6"])
    let tag = try #require(photo.offset(of: [0x01, 0x12, 0x00, 0x03, 0, 0, 0, 1, 0, 6]))
    photo[tag + 8] = UInt8(orientation >> 8)
    photo[tag + 9] = UInt8(orientation & 255)
    let prepared = try prepare(photo)
    #expect(prepared.original.orientation == 1)
    #expect(prepared.isLossless)
  }
}
