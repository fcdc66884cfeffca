import Ledgers

@testable import Web

extension FuzzTarget {
  static let web: [FuzzTarget] = [multipart, form, markup, views, queueQuery, places, notices]

  private static let dialogue = [
    "--x", "\r\n", "--", "Content-Disposition: form-data", "; name=\"a\"", "; filename=\"b\"", "\"", ";", "=", "%22",
  ]

  /// Reads a body in pieces of `size`; nil if it is malformed.
  private static func parts(_ body: [UInt8], pieces size: Int) -> [(MultipartReader.Part, [UInt8])]? {
    do {
      var reader = try MultipartReader(contentType: "multipart/form-data; boundary=x")
      var parts: [(MultipartReader.Part, [UInt8])] = []
      for start in stride(from: 0, to: body.count, by: size) {
        try reader.read(body[start..<min(start + size, body.count)]) { event in
          switch event {
          case .begin(let part): parts.append((part, []))
          case .bytes(let bytes): parts[parts.count - 1].1 += bytes
          case .end: break
          }
        }
      }
      try reader.finish()
      return parts
    } catch { return nil }
  }

  static let multipart = FuzzTarget("multipart", words: dialogue) { input throws(BrokenProperty) in
    let whole = parts(input, pieces: max(1, input.count))
    for size in [1, 7] {
      let pieces = parts(input, pieces: size)
      try hold(
        whole?.map(\.0) == pieces?.map(\.0) && whole?.map(\.1) == pieces?.map(\.1), "pieces of \(size) differ")
    }
    _ = try? MultipartReader(contentType: String(decoding: input, as: UTF8.self))
  }

  static let form = FuzzTarget("form", words: ["&", "=", "+", "%", "%00", "%C3%BC"]) { input throws(BrokenProperty) in
    _ = formFields(String(decoding: input, as: UTF8.self))
  }

  static let views = FuzzTarget(
    "views", words: ["view=", "&", "list", "conversation:", "%00", "%2F", "+"]
  ) { input throws(BrokenProperty) in
    let views = LiveView.all(in: String(decoding: input, as: UTF8.self))
    try hold(views.count <= 32, "\(views.count) views")
    for case .conversation(let name)? in views {
      let again = LiveView.all(in: "view=conversation:\(inAddress(name.text))")
      try hold(again == [.conversation(name)], "\(name.text.debugDescription) does not come back")
    }
  }

  static let queueQuery = FuzzTarget(
    "queue-query",
    words: ["state=", "to=", "cause=", "q=", "&", "is:", "to:", "failed", "held", "profile~", "+", "%20"]
  ) { input throws(BrokenProperty) in
    let fields = formFields(String(decoding: input, as: UTF8.self))
    guard let query = try? QueueQuery(fields, inbox: nil) else { return }
    let again = try? QueueQuery(formFields(query.address), inbox: nil)
    try hold(again == query, "the address \(query.address) is another filter")
  }

  static let places = FuzzTarget("places", words: ["-", "--", "9223372036854775807"]) { input throws(BrokenProperty) in
    let text = String(decoding: input, as: UTF8.self)
    for count in [2, 3] {
      guard let place = PagePlace(text, count: count) else { continue }
      try hold(PagePlace(place.description, count: count) == place, "a place of \(count) numbers")
    }
  }

  /// An address must not have the page say anything else than what was done.
  static let notices = FuzzTarget(
    "notice",
    words: [
      "retry-", "cancel-", "flush-0", "purged", "purging", "cleared ", "1 photo", "12 photos", ", ", "1.5 MB", "\n",
    ]
  ) { input throws(BrokenProperty) in
    guard let sentence = Site.notice(String(decoding: input, as: UTF8.self)) else { return }
    try hold(input.allSatisfy { (0x20...0x7E).contains($0) }, "another code has a sentence")
    try holdPlain(sentence)
  }

  /// Swift's characters decide what a template escapes.
  static let markup = FuzzTarget(
    "markup", words: ["<", ">", "&", "\"", "'", "\u{301}", "\u{200D}", "\u{FE0F}", "\u{202E}"]
  ) { input throws(BrokenProperty) in
    let text = shown(String(decoding: input, as: UTF8.self))
    let scalars = text.unicodeScalars.count { ["<", ">", "&", "\"", "'"].contains($0) }
    let characters = text.count { ["<", ">", "&", "\"", "'"].contains($0) }
    try hold(scalars == characters, "markup hides in a character of \(text.debugDescription)")
    try hold(inAddress(text).utf8.allSatisfy { (0x21...0x7E).contains($0) }, "an address is not plain")
  }
}
