import FoundationEssentials
import Messages
import Photos

/// A prepared photo on its way from the host that accepted it to its owner: facts in a line of JSON, then the JPEG.
struct RelayedPhoto {
  private struct Facts: Codable {
    let width: Int
    let height: Int
    let blurhash: String
    let original: OriginalPhoto
  }

  private static let newline = UInt8(ascii: "\n")

  /// For the owner, without what only the host that accepted it needs.
  let photo: PreparedPhoto

  init(_ photo: PreparedPhoto) { self.photo = photo }

  /// Returns nil if these are no such bytes.
  init?(_ bytes: [UInt8]) {
    guard let end = bytes.firstIndex(of: Self.newline),
      let facts = try? JSONDecoder().decode(Facts.self, from: Data(bytes[..<end]))
    else { return nil }
    photo = PreparedPhoto(
      jpeg: Array(bytes[(end + 1)...]), width: facts.width, height: facts.height, thumbnail: [], blurred: [],
      blurhash: facts.blurhash, quality: nil, original: facts.original, stripped: [])
  }

  var bytes: [UInt8] {
    get throws {
      let facts = Facts(
        width: photo.width, height: photo.height, blurhash: photo.blurhash, original: photo.original)
      return try json(facts) + [Self.newline] + photo.jpeg
    }
  }
}
