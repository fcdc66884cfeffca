import Foundation
import Imaging
import TestSupport
import Testing

@Suite struct MetadataTests {
  private static let tags = [
    "Make=PLANTEDMAKE", "GPSLatitude=47.5", "GPSLatitudeRef=N", "GPSLongitude=8.7", "GPSLongitudeRef=E",
    "XMP:Creator=PLANTEDCREATOR", "IPTC:City=PLANTEDCITY", "Comment=PLANTEDCOMMENT", "ExifIFD:LensModel=PLANTEDLENS",
  ]

  @Test("The metadata left out are named in words for people")
  func names() throws {
    let camera = try Camera()
    let thumbnail = try camera.photograph(.landscape(width: 64, height: 48))
    let path = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID().uuidString).jpg")
    try Data(thumbnail).write(to: path)
    defer { try? FileManager.default.removeItem(at: path) }
    let photo =
      try camera.photograph(
        .landscape(width: 320, height: 240), tags: Self.tags + ["ThumbnailImage<=\(path.path)"])
      + Array("something".utf8)
    #expect(
      try Set(prepare(photo).stripped)
        == ["EXIF", "GPS position", "XMP", "IPTC", "comment", "embedded thumbnail", "trailing bytes"])
  }

  @Test("EXIF without a position does not claim one")
  func noPosition() throws {
    let photo = try Camera().photograph(.landscape(width: 64, height: 48), tags: ["Make=Camera"])
    #expect(try prepare(photo).stripped == ["EXIF"])
  }

  @Test("A position in XMP alone is named")
  func positionInXMP() throws {
    let photo = try Camera().photograph(
      .landscape(width: 64, height: 48), tags: ["XMP:GPSLatitude=47.5", "XMP:GPSLongitude=8.7"])
    #expect(try Set(prepare(photo).stripped) == ["XMP", "GPS position"])
  }

  @Test("EXIF that ends, points or loops anywhere is left out without harm")
  func brokenExif() throws {
    let photo = try Camera().photograph(.landscape(width: 64, height: 48), tags: Self.tags + ["Orientation=6"])
    let start = try #require(photo.offset(of: Array("Exif".utf8)))
    var random = SeededRandom(seed: 17)
    for _ in 0..<500 {
      var broken = photo
      for _ in 0..<4 { broken[start + 6 + Int(random.next() % 300)] = UInt8(truncatingIfNeeded: random.next()) }
      let prepared = try prepare(broken)
      #expect(prepared.stripped.contains("EXIF"))
      #expect(!prepared.jpeg.contains("PLANTED"))
    }
  }
}
