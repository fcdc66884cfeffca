import FoundationEssentials
import Messages
import Photos

private struct RelayedFacts: Codable {
  let width: Int
  let height: Int
  let blurhash: String
  let original: OriginalPhoto
}

/// A photo on its way from the host that accepted it to its owner: facts in a line of JSON, then the JPEG.
extension PreparedPhoto {
  /// For the owner, without what only the host that accepted it needs. Returns nil if these are no such bytes.
  init?(relayed bytes: [UInt8]) {
    guard let end = bytes.firstIndex(of: UInt8(ascii: "\n")),
      let facts = try? JSONDecoder().decode(RelayedFacts.self, from: Data(bytes[..<end]))
    else { return nil }
    self.init(
      jpeg: Array(bytes[(end + 1)...]), width: facts.width, height: facts.height, thumbnail: [], blurred: [],
      blurhash: facts.blurhash, quality: nil, original: facts.original, stripped: [])
  }

  var relayed: [UInt8] {
    get throws {
      let facts = RelayedFacts(width: width, height: height, blurhash: blurhash, original: original)
      return try json(facts) + [UInt8(ascii: "\n")] + jpeg
    }
  }
}
