import HTTP
import Messages

@testable import Matrix
@testable import Networks
@testable import Receiving

extension FuzzTarget {
  static let listening: [FuzzTarget] = [matrixSync, matrixPosition]

  static let matrixSync = FuzzTarget(
    "matrix-sync",
    words: [
      "{", "}", "[", "]", "\"", ":", ",", "next_batch", "rooms", "join", "timeline", "events", "limited", "prev_batch",
      "true", "chunk", "end", "type", "m.room.message", "state_key", "sender", "event_id", "content", "msgtype",
      "m.image", "m.file", "info", "mimetype", "image/", "m.relates_to", "rel_type", "m.replace", "origin_server_ts",
      "url", "file", "null",
    ]
  ) { input throws(BrokenProperty) in
    let answer = MatrixAnswer(HTTPResponse(status: 200, headers: [], body: input))
    var events: [JSONValue] = []
    if let sync = MatrixSync(answer) { events += sync.rooms.flatMap(\.timeline.events) }
    if let page = MatrixPages.Page(answer) {
      events += page.events
      var pages = MatrixPages(room: "!room", from: "start", to: "end")
      pages.turn(page)
      try hold(pages.path?.contains(" ") != true, "the next page is none")
    }
    for event in events {
      guard let arrival = photo(event) else { continue }
      let kept = MatrixAnswer(HTTPResponse(status: 200, headers: [], body: arrival.attachment)).json
      guard let again = kept.flatMap(photo) else {
        throw BrokenProperty(description: "what is kept of a photo is none")
      }
      try hold(again.message == arrival.message, "kept, it is another message")
      try hold(again.attachment == arrival.attachment, "kept again, it is another photo")
      _ = try? AttachmentReader.read(arrival.attachment)
    }
  }

  private static func photo(_ event: JSONValue) -> Arrival? {
    Arrival(event, in: "!room:example.org", as: ConversationID(unchecked: "family"), account: "@me:example.org")
  }

  static let matrixPosition = FuzzTarget("position", words: ["@me:example.org", " ", "\n"]) {
    input throws(BrokenProperty) in
    let text = String(decoding: input, as: UTF8.self)
    guard let position = MatrixPosition(text, account: "@me:example.org") else { return }
    try hold(!position.token.isEmpty, "it is nowhere")
    try hold(position.description == text, "written again, it is another place")
  }
}
