import Foundation
import Imaging
import TestSupport
import Testing

@Suite struct BlurhashTests {
  @Test("Black is black and no wave")
  func black() throws {
    // Four across and three down; 0 in base 83 is "0000"; "fQ" is an empty wave.
    let hash = try prepare(Camera().photograph(.plain(0, 0, 0))).blurhash
    #expect(hash == "L00000" + String(repeating: "fQ", count: 11))
  }

  @Test("An independent decoder sees the picture's light where it is")
  func decoded() throws {
    let scene = Scene.landscape(width: 96, height: 64)
    let hash = try prepare(Camera().photograph(scene)).blurhash
    let script = """
      import blurhash, json, sys
      pixels = blurhash.decode(sys.argv[1], 24, 16)
      print(json.dumps(pixels))
      """
    let python = ProcessInfo.processInfo.environment["PHOTOSPOOL_PYTHON"] ?? "python3"
    let result = try run([python, "-c", script, hash])
    try #require(result.status == 0, "\(result.errors)")
    let seen = try JSONDecoder().decode([[[Double]]].self, from: Data(result.output.utf8))
    for (x, y) in [(2, 2), (21, 2), (2, 13), (21, 13)] {
      let (red, green, blue) = scene[x * 4, y * 4]
      for (value, wanted) in zip(seen[y][x], [red, green, blue]) {
        #expect(abs(value - Double(wanted)) < 60, "at \(x), \(y): \(seen[y][x]), not \(red), \(green), \(blue)")
      }
    }
  }

  @Test("An upright photo has more waves down than across")
  func upright() throws {
    let hash = try prepare(Camera().photograph(.landscape(width: 40, height: 90))).blurhash
    #expect(hash.count == 28 && hash.first == "T")
  }
}
