import HTTP
import Matrix
import Messages

/// The pages of a room's messages between two positions.
struct MatrixPages {
  /// The most messages to read.
  static let most = 10_000
  private static let limits = [100, 10, 1]

  private let room: String
  private let end: String
  private var start: String?
  private var limit = 0
  private var count = 0
  /// There were more.
  private(set) var isCutOff = false

  struct Page {
    let events: [JSONValue]
    /// The start of the next page; nil at the end.
    let end: String?

    init?(_ answer: MatrixAnswer) {
      guard 200..<300 ~= answer.status, let body = answer.json, let chunk = body["chunk"] else { return nil }
      events = chunk.elements
      end = body["end"]?.text
    }
  }

  init(room: String, from start: String, to end: String) {
    self.room = room
    self.start = start
    self.end = end
  }

  /// The request for the next page, if any.
  var path: String? {
    start.map {
      "/_matrix/client/v3/rooms/\(room.percentEncoded())/messages?dir=f&from=\($0.percentEncoded())"
        + "&to=\(end.percentEncoded())&limit=\(Self.limits[limit])&filter=\(MatrixFilter.ofPage.percentEncoded())"
    }
  }

  var isNarrowest: Bool { limit == Self.limits.count - 1 }

  /// Asks for smaller pages; false if they cannot be smaller.
  mutating func narrow() -> Bool {
    if isNarrowest { return false }
    limit += 1
    return true
  }

  /// Continues after a page. A page may be empty; one that does not advance is the last.
  mutating func turn(_ page: Page) {
    count += max(page.events.count, Self.most / 1000)
    let next = page.end == start || page.end == end ? nil : page.end
    if next != nil, count >= Self.most {
      isCutOff = true
      start = nil
    } else {
      start = next
    }
  }
}
