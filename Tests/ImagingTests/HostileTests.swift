import Imaging
import Messages
import Photos
import Testing

@Suite struct HostileTests {
  private static let causes: Set<Cause> = [.unsupportedImage, .truncatedImage, .imageLimits]

  private static let kinds: [[String]] = [
    ["-quality", "75"], ["-quality", "75", "-progressive"], ["-quality", "75", "-grayscale", "-restart", "2"],
  ]

  private func photo(_ options: [String]) throws -> [UInt8] {
    try Camera().photograph(
      .landscape(width: 72, height: 56), options, profile: MatrixProfile.p3.icc,
      tags: ["Make=Camera", "GPSLatitude=47.5", "Orientation=6"])
  }

  @Test("A photo cut off anywhere before its last data is refused", arguments: kinds)
  func cut(options: [String]) throws {
    let photo = try photo(options)
    for length in 0..<photo.count - 8 {
      let error = refusal(of: Array(photo[..<length]))
      let isHeaderless = length < 2
      #expect(error?.cause == (isHeaderless ? .unsupportedImage : .truncatedImage), "cut at \(length)")
    }
  }

  @Test("A photo with any bytes changed is prepared or refused for a reason of its own", arguments: kinds)
  func changed(options: [String]) throws {
    let photo = try photo(options)
    var random = SeededRandom(seed: 9)
    var (prepared, refused) = (0, 0)
    for _ in 0..<600 {
      var broken = photo
      for _ in 0...random.next() % 8 {
        broken[Int(random.next() % UInt64(photo.count))] = UInt8(truncatingIfNeeded: random.next())
      }
      do {
        let result = try prepare(broken)
        #expect(result.width > 0 && result.height > 0 && result.jpeg.count <= 999_999)
        prepared += 1
      } catch {
        #expect(Self.causes.contains(error.cause), "\(error)")
        refused += 1
      }
    }
    #expect(prepared > 0 && refused > 0)
  }

  @Test("A photo with blocks taken out, doubled or zeroed is prepared or refused", arguments: kinds)
  func shuffled(options: [String]) throws {
    let photo = try photo(options)
    var random = SeededRandom(seed: 23)
    for round in 0..<300 {
      let start = 2 + Int(random.next() % UInt64(photo.count - 2))
      let block = start..<min(photo.count, start + 1 + Int(random.next() % 64))
      var broken = photo
      switch round % 3 {
      case 0: broken.removeSubrange(block)
      case 1: broken.insert(contentsOf: photo[block], at: start)
      default: broken.replaceSubrange(block, with: [UInt8](repeating: 0, count: block.count))
      }
      do {
        #expect(try prepare(broken).width > 0)
      } catch {
        #expect(Self.causes.contains(error.cause), "\(error)")
      }
    }
  }

  @Test("Tens of thousands of segments do no harm")
  func segments() throws {
    let photo = try photo(["-quality", "75"])
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
          #expect(Self.causes.contains(error.cause), "\(photo.name): \(error)")
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
