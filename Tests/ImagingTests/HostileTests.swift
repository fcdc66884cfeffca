import Imaging
import Messages
import TestSupport
import Testing

@Suite struct HostileTests {
  @Test("Tens of thousands of segments do no harm")
  func segments() throws {
    let photo = try FormatSample.named("JPEG").bytes
    let comments = Array(repeating: [UInt8]([0xFF, 0xFE, 0x00, 0x02]), count: 50_000).joined()
    let prepared = try prepare(Array(photo[..<2]) + Array(comments) + Array(photo[2...]))
    #expect(prepared.stripped.contains("comment"))
    #expect(prepared.jpeg.count < 50_000)
  }

  @Test("Every file of the corpus is decided", .enabled(if: Corpus.path != nil, Corpus.isAbsent))
  func corpus() throws {
    for folder in ["bad", "bad/afl", "camera", "formats", "gps", "large", "orientation", "xmp"] {
      for photo in try Corpus.photos(in: folder) {
        do {
          let prepared = try prepare(photo.bytes)
          #expect(prepared.jpeg.count <= 999_999 && max(prepared.width, prepared.height) <= 2048, "\(photo.name)")
          #expect(try Camera().metadata(of: prepared.jpeg) == [], "\(photo.name)")
        } catch let error as DeliveryError {
          #expect(FormatSample.causes.contains(error.cause), "\(photo.name): \(error)")
          #expect(folder.hasPrefix("bad") || folder == "formats", "\(photo.name): \(error)")
        }
      }
    }
  }

  @Test(
    "The corpus' broken photos are refused for the right reason", .enabled(if: Corpus.path != nil, Corpus.isAbsent),
    arguments: [
      ("bomb_65500x65500.jpg", Cause.imageLimits), ("bomb_scans.jpg", .imageLimits),
      ("corrupted.jpg", .truncatedImage), ("flipped.jpg", .truncatedImage),
      ("text_named.jpg", .unsupportedImage), ("truncated_half.jpg", .truncatedImage),
      ("truncated_header.jpg", .truncatedImage), ("zero.jpg", .unsupportedImage),
    ])
  func causes(name: String, cause: Cause) throws {
    let photo = try #require(Corpus.photos(in: "bad").first { $0.name == name })
    #expect(refusal(of: photo.bytes)?.cause == cause)
  }
}
