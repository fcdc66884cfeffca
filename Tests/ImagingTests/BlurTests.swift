import Foundation
import Imaging
import TestSupport
import Testing

/// The blurred preview must not reveal the photo.
@Suite struct BlurTests {
  /// Fine strokes like writing, on a reddish and a bluish half; their mean is the paper's colour.
  private static func writing(width: Int, height: Int, stroke: Int) -> Scene {
    var random = SeededRandom(seed: 31)
    let strokes = (0..<(width / stroke + 1) * (height / stroke + 1)).map { _ in random.next() & 1 == 0 }
    return Scene(width: width, height: height) { x, y in
      let ink: UInt8 = strokes[y / stroke * (width / stroke + 1) + x / stroke] ? 60 : 0
      return x < width / 2 ? (120 + ink, 30 + ink, 40 + ink) : (20 + ink, 60 + ink, 130 + ink)
    }
  }

  private static func checkerboard(width: Int, height: Int, field: Int) -> Scene {
    Scene(width: width, height: height) { x, y in (x / field + y / field) % 2 == 0 ? (235, 235, 235) : (20, 20, 20) }
  }

  /// The deviation of levels from their mean, in part of a scene.
  private func contrast(_ scene: Scene) -> Double {
    let mean = scene.mean
    let squares = scene.rgb.enumerated().reduce(0.0) { sum, sample in
      let distance = Double(sample.element) - mean[sample.offset % 3]
      return sum + distance * distance
    }
    return (squares / Double(scene.rgb.count)).squareRoot()
  }

  @Test("The blurred preview has the size of the thumbnail and shows nothing of a checkerboard", arguments: [4, 8, 20])
  func checkerboard(field: Int) throws {
    let camera = try Camera()
    let scene = Self.checkerboard(width: 600, height: 400, field: field)
    for photo in [try camera.photograph(scene), try camera.png(scene)] {
      let prepared = try prepare(photo)
      let (thumbnail, blurred) = (try camera.look(at: prepared.thumbnail), try camera.look(at: prepared.blurred))
      #expect((thumbnail.width, thumbnail.height) == (300, 200))
      #expect((blurred.width, blurred.height) == (300, 200))
      // Fields of the thumbnail are half as large, and still visible.
      #expect(contrast(thumbnail) > 50)
      #expect(contrast(blurred) < 5)
      for (seen, wanted) in zip(blurred.mean, thumbnail.mean) { #expect(abs(seen - wanted) < 4) }
    }
  }

  @Test("Writing cannot be read in the blurred preview, and the colours behind it are kept", arguments: [6, 12])
  func writing(stroke: Int) throws {
    let camera = try Camera()
    let scene = Self.writing(width: 600, height: 400, stroke: stroke)
    let prepared = try prepare(camera.photograph(scene))
    let (thumbnail, blurred) = (try camera.look(at: prepared.thumbnail), try camera.look(at: prepared.blurred))
    for left in [10, 210] {
      // Both halves, away from the edge between them.
      let (before, after) = (
        thumbnail.part(x: left, y: 20, width: 80, height: 160), blurred.part(x: left, y: 20, width: 80, height: 160)
      )
      #expect(contrast(before) > 15)
      #expect(contrast(after) < 6)
      for (seen, wanted) in zip(after.mean, before.mean) { #expect(abs(seen - wanted) < 6) }
    }
  }

  @Test("The mean colour of a photo is that of its blurred preview within four levels, in every format")
  func mean() throws {
    let camera = try Camera()
    let scene = Scene.landscape(width: 500, height: 300)
    let png = try camera.png(scene)
    for photo in [
      try camera.photograph(scene), png, try camera.webp(png), try camera.heic(png), try camera.gif([scene]),
      try camera.photograph(scene, ["-progressive", "-sample", "2x2"], tags: ["Orientation=6"]),
    ] {
      let prepared = try prepare(photo)
      let (seen, wanted) = (try camera.look(at: prepared.blurred).mean, try camera.look(at: prepared.jpeg).mean)
      for (level, expected) in zip(seen, wanted) {
        // Edges count more in a blurred picture.
        #expect(abs(level - expected) < 4, "\(prepared.original.format) shows \(seen) instead of \(wanted)")
      }
    }
  }

  @Test("Two photos that differ in detail alone have previews that cannot be told apart")
  func alike() throws {
    let camera = try Camera()
    let first = try prepare(camera.photograph(Self.checkerboard(width: 640, height: 640, field: 4)))
    let second = try prepare(camera.photograph(Self.checkerboard(width: 640, height: 640, field: 8)))
    let difference = try camera.look(at: first.blurred).difference(from: camera.look(at: second.blurred))
    #expect(difference < 3, "differs by \(difference)")
    #expect(try camera.look(at: first.thumbnail).difference(from: camera.look(at: second.thumbnail)) > 30)
  }

  @Test("A small photo has a preview as blurred as a large one's", arguments: [(48, 36), (16, 12), (3, 2), (1, 1)])
  func small(width: Int, height: Int) throws {
    let camera = try Camera()
    let prepared = try prepare(camera.png(Self.checkerboard(width: width, height: height, field: 1)))
    let blurred = try camera.look(at: prepared.blurred)
    #expect((blurred.width, blurred.height) == (width, height))
    if width >= 16 { #expect(contrast(blurred) < 12) }
  }
}
