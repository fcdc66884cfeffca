import Imaging
import Testing

@Suite struct SizeTests {
  @Test("A large photo fits into the longest side and keeps its shape", arguments: [(2400, 1800), (1800, 2400)])
  func longestSide(width: Int, height: Int) throws {
    let camera = try Camera()
    let prepared = try prepare(camera.photograph(.landscape(width: width, height: height)))
    #expect(max(prepared.width, prepared.height) == 2048)
    #expect(min(prepared.width, prepared.height) == 1536)
    let seen = try camera.look(at: prepared.jpeg)
    #expect((seen.width, seen.height) == (prepared.width, prepared.height))
    #expect(prepared.quality == 85)
  }

  @Test(
    "Made smaller by any factor, a photo still shows the same",
    arguments: [640, 500, 401, 320, 200, 160, 90, 41, 8])
  func factors(side: Int) throws {
    let camera = try Camera()
    let scene = Scene.landscape(width: 640, height: 480)
    let prepared = try prepare(camera.photograph(scene)) { $0.longestSide = side }
    #expect(prepared.width == side)
    let near = Scene(width: prepared.width, height: prepared.height) { x, y in
      scene[(2 * x + 1) * 640 / (2 * prepared.width), (2 * y + 1) * 480 / (2 * prepared.height)]
    }
    #expect(try camera.look(at: prepared.jpeg).difference(from: near) < (side < 100 ? 14 : 7))
  }

  @Test("A photo is never enlarged", arguments: [(1, 1), (17, 5), (300, 200)])
  func neverEnlarged(width: Int, height: Int) throws {
    let camera = try Camera()
    let photo = try camera.photograph(.landscape(width: width, height: height), tags: ["Orientation=3"])
    let prepared = try prepare(photo)
    #expect((prepared.width, prepared.height) == (width, height))
    let thumbnail = try camera.look(at: prepared.thumbnail)
    #expect((thumbnail.width, thumbnail.height) == (width, height))
  }

  @Test("A strip of one pixel's height stays one", arguments: [(3000, 1), (1, 3000)])
  func strip(width: Int, height: Int) throws {
    let prepared = try prepare(Camera().photograph(.landscape(width: width, height: height)))
    #expect((prepared.width, prepared.height) == (min(width, 2048), min(height, 2048)))
  }

  @Test(
    "A profile photo is the square in the middle, upright",
    arguments: [
      (900, 400, 1), (400, 900, 1), (901, 401, 1), (900, 400, 6), (401, 907, 8), (256, 256, 3), (900, 400, 2),
    ])
  func square(width: Int, height: Int, orientation: Int) throws {
    let camera = try Camera()
    let scene = Scene.landscape(width: width, height: height)
    let photo = try camera.photograph(scene, tags: ["Orientation=\(orientation)"])
    let prepared = try prepare(photo) {
      $0.squareSide = 256
      $0.longestSide = 256
    }
    #expect((prepared.width, prepared.height) == (256, 256))
    let whole = try camera.look(at: prepare(photo).jpeg)
    let side = min(whole.width, whole.height)
    let (left, top) = ((whole.width - side) / 2, (whole.height - side) / 2)
    let middle = Scene(width: 256, height: 256) { x, y in
      whole[left + (2 * x + 1) * side / 512, top + (2 * y + 1) * side / 512]
    }
    #expect(try camera.look(at: prepared.jpeg).difference(from: middle) < 8)
    let thumbnail = try camera.look(at: prepared.thumbnail)
    #expect(thumbnail.width == thumbnail.height)
  }

  @Test("A square is never enlarged, and one that fits is kept as it is", arguments: [(1, 1), (300, 40), (90, 90)])
  func smallSquare(width: Int, height: Int) throws {
    let camera = try Camera()
    let prepared = try prepare(camera.photograph(.landscape(width: width, height: height))) {
      $0.squareSide = 256
      $0.longestSide = 256
    }
    #expect((prepared.width, prepared.height) == (min(width, height), min(width, height)))
    #expect(prepared.isLossless == (width == height))
  }

  @Test("The quality falls until the photo fits, and not much further")
  func quality() throws {
    let camera = try Camera()
    let photo = try camera.photograph(.noise(width: 300, height: 200, seed: 1), tags: ["Orientation=3"])
    let best = try prepare(photo)
    #expect(best.quality == 85)
    let limit = best.jpeg.count * 3 / 4
    let smaller = try prepare(photo) { $0.outputBytes = limit }
    let quality = try #require(smaller.quality)
    #expect((50..<85).contains(quality))
    #expect(smaller.jpeg.count <= limit)
    #expect(smaller.jpeg.count > limit * 8 / 10)
    #expect((smaller.width, smaller.height) == (300, 200))
    #expect(try camera.look(at: smaller.jpeg).width == 300)
  }

  @Test("A photo that does not fit at the worst quality gets smaller, and its thumbnail does not")
  func dimensions() throws {
    let camera = try Camera()
    let photo = try camera.photograph(.noise(width: 1000, height: 500, seed: 2), ["-quality", "90"])
    let prepared = try prepare(photo) { $0.outputBytes = 60_000 }
    #expect(prepared.jpeg.count <= 60_000)
    #expect(prepared.jpeg.count > 30_000)
    #expect(prepared.width < 1000)
    #expect(abs(prepared.width - 2 * prepared.height) <= 2)
    let seen = try camera.look(at: prepared.jpeg)
    #expect((seen.width, seen.height) == (prepared.width, prepared.height))
    #expect(try camera.look(at: prepared.thumbnail).width == 300)
  }

  @Test("A photo of exactly the largest size is sent as it is; one byte less is too little")
  func exactly() throws {
    let photo = try Camera().photograph(.landscape(width: 320, height: 240))
    let size = try prepare(photo).jpeg.count
    #expect(try prepare(photo) { $0.outputBytes = size }.isLossless)
    let smaller = try prepare(photo) { $0.outputBytes = size - 1 }
    #expect(!smaller.isLossless)
    #expect(smaller.jpeg.count < size)
  }

  @Test("A photo that fits at no size is refused with the limit", arguments: [0, 100, 500])
  func impossible(limit: Int) throws {
    let photo = try Camera().photograph(.landscape(width: 320, height: 240))
    let error = try #require(refusal(of: photo) { $0.outputBytes = limit })
    #expect(error.cause == .tooLargeAfterCompress)
    #expect(error.sentence.contains("\(limit) bytes"))
  }

  @Test("The same photo gives the same bytes")
  func deterministic() throws {
    let photo = try Camera().photograph(.landscape(width: 500, height: 375), tags: ["Orientation=7"])
    let first = try prepare(photo) { $0.longestSide = 200 }
    #expect(try prepare(photo) { $0.longestSide = 200 } == first)
  }
}
