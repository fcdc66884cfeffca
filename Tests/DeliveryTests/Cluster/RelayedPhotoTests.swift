import Photos
import Testing

@testable import Delivery

struct RelayedPhotoTests {
  private let prepared = PreparedPhoto(
    jpeg: [0xFF, 0xD8, 10, 0xFF, 0xD9], width: 3, height: 2, thumbnail: [1], blurred: [2], blurhash: "L\n\"",
    quality: 85,
    original: OriginalPhoto(format: .heic, bytes: 9, width: 4, height: 6, orientation: 6), stripped: ["position"])

  @Test("the owner gets the photo and its facts")
  func arrives() throws {
    let relayed = try #require(try PreparedPhoto(relayed: prepared.relayed))
    #expect(relayed.jpeg == prepared.jpeg)
    #expect([relayed.width, relayed.height] == [3, 2])
    #expect(relayed.blurhash == prepared.blurhash)
    #expect(relayed.original == prepared.original)
  }

  @Test("other bytes are none", arguments: ["", "\n", "{}\nJPEG", "{", #"{"width":1}"# + "\n"])
  func refuses(text: String) { #expect(PreparedPhoto(relayed: Array(text.utf8)) == nil) }
}
