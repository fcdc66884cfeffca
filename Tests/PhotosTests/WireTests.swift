import Messages
import Testing

@testable import Photos

@Suite struct WireTests {
  private let photo = PreparedPhoto(
    jpeg: [0xFF, 0xD8, 0xFF, 1, 2, 0xFF, 0xD9], width: 20, height: 10, thumbnail: [0xFF, 0xD8, 0xFF, 0xFF, 0xD9],
    blurred: [0xFF, 0xD8, 0xFF, 3, 0xFF, 0xD9], blurhash: "LEHV6nWB2yk8", quality: 71,
    original: OriginalPhoto(format: .heic, bytes: 99, width: 40, height: 20, orientation: 6),
    stripped: ["EXIF", "GPS position"])

  @Test("An order comes out as it went in")
  func order() {
    var limits = PhotoLimits()
    limits.longestSide = 1234
    limits.items = 77
    #expect(limits.encoded.count == PhotoLimits.encodedSize)
    #expect(PhotoLimits(encoded: limits.encoded) == limits)
    #expect(PhotoLimits(encoded: Array(limits.encoded.dropLast())) == nil)
  }

  @Test("An answer comes out as it went in")
  func answer() throws {
    let answer = try #require(DarkroomAnswer(encoded: DarkroomAnswer(.success(photo)).encoded, limits: PhotoLimits()))
    #expect(try answer.result.get() == photo)
    let error = DeliveryError(.imageLimits, "too large")
    let refusal = try #require(DarkroomAnswer(encoded: DarkroomAnswer(.failure(error)).encoded, limits: PhotoLimits()))
    #expect(throws: error) { try refusal.result.get() }
  }

  @Test("An answer that is truncated or too long is invalid")
  func cut() {
    let encoded = DarkroomAnswer(.success(photo)).encoded
    for count in encoded.indices {
      #expect(DarkroomAnswer(encoded: Array(encoded[..<count]), limits: PhotoLimits()) == nil)
    }
    #expect(DarkroomAnswer(encoded: encoded + [0], limits: PhotoLimits()) == nil)
  }

  @Test("A photo beyond the limits is no answer")
  func limits() {
    let encoded = DarkroomAnswer(.success(photo)).encoded
    func isAnswer(_ change: (inout PhotoLimits) -> Void) -> Bool {
      var limits = PhotoLimits()
      change(&limits)
      return DarkroomAnswer(encoded: encoded, limits: limits) != nil
    }
    #expect(isAnswer { $0.longestSide = 20 })
    #expect(!isAnswer { $0.longestSide = 19 })
    #expect(isAnswer { $0.outputBytes = 7 })
    #expect(!isAnswer { $0.outputBytes = 6 })
  }

  @Test("A darkroom cannot say anything of a destination")
  func causes() {
    for cause in Cause.allCases {
      let encoded = DarkroomAnswer(.failure(DeliveryError(cause, "it is so"))).encoded
      let isTheirs = [Cause.unsupportedImage, .truncatedImage, .imageLimits, .tooLargeAfterCompress].contains(cause)
      #expect((DarkroomAnswer(encoded: encoded, limits: PhotoLimits()) != nil) == isTheirs, "\(cause)")
    }
  }

  @Test(
    "An answer cannot hold what a terminal would obey, or more than a line",
    arguments: ["two\nlines", "\u{1B}]0;title\u{7}", "a\0b", "\u{9B}31m", "\u{202E}gpj", "two\u{2028}lines"])
  func controlCharacters(text: String) {
    let error = DeliveryError(.truncatedImage, text)
    #expect(DarkroomAnswer(encoded: DarkroomAnswer(.failure(error)).encoded, limits: PhotoLimits()) == nil)
    for (blurhash, stripped) in [(photo.blurhash, [text]), (text, [])] {
      let other = PreparedPhoto(
        jpeg: photo.jpeg, width: 20, height: 10, thumbnail: photo.thumbnail, blurred: photo.blurred,
        blurhash: blurhash, quality: 71, original: photo.original, stripped: stripped)
      #expect(DarkroomAnswer(encoded: DarkroomAnswer(.success(other)).encoded, limits: PhotoLimits()) == nil)
    }
  }

  @Test("Only JPEGs are taken for JPEGs")
  func notJPEG() {
    let other = PreparedPhoto(
      jpeg: Array("GIF89a".utf8), width: 20, height: 10, thumbnail: photo.thumbnail, blurred: photo.blurred,
      blurhash: photo.blurhash,
      quality: 71, original: photo.original, stripped: [])
    #expect(DarkroomAnswer(encoded: DarkroomAnswer(.success(other)).encoded, limits: PhotoLimits()) == nil)
  }
}
