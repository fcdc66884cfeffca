import Blocking
import Digests
import Dispatch
import DurableFiles
import FoundationEssentials
import HTTPTypes
import Hummingbird
import Messages
import Synchronization

@testable import Spooling
@testable import Web
@testable import WebAccess

/// What the page reads of the spool, and what browsers have it write there. 0x1D separates the parts of an input.
extension FuzzTarget {
  static let webFiles: [FuzzTarget] = [draftOrder, photoName, waiting, shared, receivedForm, webAccess]

  private static func parts(_ input: [UInt8], most: Int) -> [[UInt8]] {
    input.split(separator: 0x1D, maxSplits: most - 1, omittingEmptySubsequences: false).map(Array.init)
  }

  /// Runs `body` with a new spool, beside which nothing may appear.
  static func inSpool(_ body: (Spool) throws -> Void) throws(BrokenProperty) {
    try inScratch { directory in
      try body(Spool(creating: directory.path(of: "spool")))
      try hold(try directory.names() == ["spool"], "something is beside the spool")
    }
  }

  /// The names of photos in a draft that somebody in the spool's group wrote, and the order that a browser wants.
  static let draftOrder = FuzzTarget(
    "draft-order",
    words: [
      "photo-00-a.jpg", "photo-99-b", "photo-01", "photo", "\n", "text", "to", "../", "\u{1D}", "\u{1E}", "\u{1F}",
    ]
  ) { input throws(BrokenProperty) in
    let parts = parts(input, most: 2)
    try inSpool { spool in
      _ = try spool.draft.make("web-1")
      let directory = try spool.draft.directory("web-1")
      try fill(directory, with: parts[0])
      guard let draft = try OpenDraft.all(withPrefix: DraftDesk.prefix, in: spool).first else {
        throw BrokenProperty(description: "the draft is not found")
      }
      _ = (draft.conversation, draft.inbox, try draft.text())
      let (before, kept) = (try draft.photos(), try others(in: directory))
      let wanted = Site.photoNames(in: parts.count > 1 ? parts[1] : [])
      do {
        let after = try draft.order(wanted)
        try hold(after.count == before.count, "\(before.count) photos have become \(after.count)")
        if before.allSatisfy({ PhotoName.number($0.file) != nil }) {
          let first = wanted.first { name in before.contains { $0.file == name } } ?? before.first?.file
          try hold(
            after.first.map { PhotoName.original($0.file) } == first.map { cleaned(PhotoName.original($0)) }
              || after.first?.file == first, "another photo is the first one")
        }
      } catch is Refusal {}
      let sizes = try draft.photos().map(\.bytes).sorted()
      try hold(sizes == before.map(\.bytes).sorted(), "a photo is lost")
      try hold(try others(in: directory) == kept, "another file has changed")
    }
  }

  /// The name that a photo's own name becomes.
  private static func cleaned(_ original: String) -> String { PhotoName.original(PhotoName.name(0, of: original)) }

  /// The files of a draft besides its photos.
  private static func others(in directory: Directory) throws -> [String] {
    try directory.names().filter { !$0.hasPrefix("photo") }.sorted()
  }

  static let photoName = FuzzTarget(
    "photo-name", words: ["photo-", "photo-00-", "IMG_1234.jpg", "..", "/", "\0", "-", "_", ".heic"]
  ) { input throws(BrokenProperty) in
    let text = String(decoding: input, as: UTF8.self)
    try hold(
      text.isEmpty
        || !PhotoName.original(text).isEmpty
          && text.utf8.reversed().starts(with: PhotoName.original(text).utf8.reversed()),
      "the user's name is not in the file's name")
    if text.isEmpty { return }
    for index in [0, 9, 10, 99] {
      let name = PhotoName.name(index, of: text)
      try hold(name.utf8.count <= 109, "the name is too long: \(name)")
      try hold(!name.utf8.contains { $0 == 0 || $0 == UInt8(ascii: "/") || $0 < 0x20 }, "the name leaves its directory")
      try hold(PhotoName.number(name) == index, "\(name) has another number")
      let original = PhotoName.original(name)
      try hold(PhotoName.name(index, of: original) == name, "the name \(name) does not stay")
    }
  }

  /// A request in `new/` that any user of the group dropped: its name, and its files.
  static let waiting = FuzzTarget(
    "waiting", words: ["to", "from", "text", "photo-00-a", "family\n", "me", "\u{1D}", "\u{1E}", "\u{1F}"]
  ) { input throws(BrokenProperty) in
    let parts = parts(input, most: 2)
    let name = String(decoding: parts[0], as: UTF8.self)
    guard name.utf8.count < 256, !["", ".", ".."].contains(name), !name.utf8.contains(0), !name.contains("/"),
      let family = try? ConversationID("family")
    else { return }
    try inSpool { spool in
      guard try spool.new.make(name) else { return }
      try fill(spool.new.directory(name), with: parts.count > 1 ? parts[1] : [])
      let all = try spool.waitingRequests(to: family, inbox: nil)
      let own = try spool.waitingRequests(to: family, inbox: InboxID(unchecked: "me"))
      try hold(all.count <= 1 && own.count <= all.count, "one request is \(all.count)")
      for request in all + own {
        try hold(RequestName(request.name) != nil && request.name == name, "another name")
        try hold(request.photos.allSatisfy { !$0.file.isEmpty && $0.bytes >= 0 }, "a photo without a name")
        // Bytes that are no text are shown as three each.
        try hold(request.text?.utf8.count ?? 0 <= 3 * RequestLimits.textFileBytes, "the text is too long")
      }
    }
  }

  /// What another program of a phone shares: an id from an address, a text, and the names of photos.
  static let shared = FuzzTarget(
    "shared", words: ["../", "text", "10-", "%2F", "0123456789abcdef", "photo.jpg", "\u{1D}", "\0"]
  ) { input throws(BrokenProperty) in
    let parts = parts(input, most: 14).map { String(decoding: $0, as: UTF8.self) }
    let names = parts.dropFirst(2)
    try inSpool { spool in
      let grant = Grant(rights: [.send], inbox: nil, name: "n", expires: .now())
      let (own, other) = (WebSession(id: "a1", grant: grant, user: 0), WebSession(id: "b2", grant: grant, user: 0))
      try hold(try SharedMessage(parts[0], of: own, in: spool) == nil, "an id opens what nobody shared")
      let photos = try names.map { name in
        let file = try spool.tmp.file(appendingTo: "photo")
        try spool.tmp.remove("photo")
        try file.write([1])
        return try file.called(name)
      }
      let message = try SharedMessage.keep(photos, text: parts.count > 1 ? parts[1] : "", of: own, in: spool)
      try hold(try SharedMessage(message.id, of: own, in: spool)?.sentence == message.sentence, "it is not found again")
      try hold(try SharedMessage(message.id, of: other, in: spool) == nil, "another session finds it")
      let desk = DraftDesk(spool: spool, defaultInbox: InboxID(unchecked: "me"))
      do { try message.move(to: ConversationID("family"), desk, for: own) } catch is WebProblem {
        try hold(names.count > RequestLimits.photos, "\(names.count) photos are too many")
        return
      }
      let draft = try desk.find(to: ConversationID("family"), for: own)
      let kept = try draft?.photos().map { PhotoName.original($0.file) } ?? []
      let wanted = photos.map { $0.name ?? "photo" }.map { cleaned(inAddress($0).utf8.count <= 200 ? $0 : "photo") }
      try hold(kept == wanted, "the photos \(wanted) have become \(kept)")
      try hold(try spool.tmp.names().allSatisfy { $0 == ".order" }, "something is left in tmp/")
    }
  }

  /// A form of the page, from its bytes to its photos on the disk.
  static let receivedForm = FuzzTarget(
    "received-form",
    words: [
      "--x", "\r\n", "--", "Content-Disposition: form-data", "; name=\"text\"", "; name=\"photo\"; filename=\"b\"",
      "\"", "%22",
    ]
  ) { input throws(BrokenProperty) in
    try inSpool { spool in
      let form: ReceivedForm
      do {
        form = try finished { try await ReceivedForm(post(input), into: spool, pool: blocking) }
      } catch is WebProblem {
        return
      }
      try hold(form.photos.count <= RequestLimits.photos, "\(form.photos.count) photos")
      for photo in form.photos {
        try hold(photo.name.map { !$0.isEmpty && !$0.contains("/") } ?? true, "a photo's name is a path")
        try hold(try photo.contents(limit: input.count) != nil, "a photo is larger than its form")
      }
      try hold(form.fields.allSatisfy { $0.value.utf8.count <= input.count }, "a field is larger than its form")
      try hold(form.text?.contains { !$0.isWhitespace } ?? true, "a blank text is one")
      try hold(try !spool.tmp.names().contains { $0.hasPrefix(".web") }, "a photo has a name in tmp/")
    }
  }

  private static let blocking = BlockingPool(label: "fuzz", threads: 1)

  private static func post(_ body: [UInt8]) -> Request {
    let type = "multipart/form-data; boundary=x"
    return Request(
      head: HTTPRequest(method: .post, scheme: nil, authority: nil, path: "/share", headerFields: [.contentType: type]),
      body: RequestBody(buffer: ByteBuffer(bytes: body)))
  }

  /// The files of links and sessions, and of the page's address.
  static let webAccess = FuzzTarget(
    "web-access",
    words: [
      "\"rights\":[\"see\",\"send\",\"operate\"]", "\"inbox\":null", "\"user\":0",
      "\"expires\":\"9999-12-31T23:59:59.999Z\"",
      "\"password\":{\"salt\":\"00\",\"digest\":\"00\"}", "-0001-", "999999999999",
    ]
  ) { input throws(BrokenProperty) in
    try inSpool { spool in
      let access = try AccessStore(spool)
      let web = try spool.state.directory("web")
      let key = SHA256Digest(of: Array("secret".utf8)).hex
      for place in ["links", "sessions"] { try web.directory(place).file(creating: key).write(input) }
      try web.file(creating: "address").write(input)
      _ = try access.origin()
      let now = Timestamp.now()
      let entries = try access.entries(at: now)
      for entry in entries {
        try holdPlain(entry.grant.rightsInWords)
        let again = try JSONDecoder().decode(Grant.self, from: JSONEncoder().encode(entry.grant))
        try hold(again == entry.grant || entry.grant.expires < now, "what was written is not what is read")
        _ = Int(entry.grant.expires.seconds(since: now))
      }
      for user: UInt32? in [nil, 0] {
        guard let session = try access.session("secret", user: user, at: now) else { continue }
        try hold(session.user == user && session.grant.expires > now, "a session of another user, or one that is over")
      }
      let grant = try access.link("secret", at: now)
      let begun = try access.beginSession(by: "secret", user: 0, at: now)
      try hold((begun != nil) == (grant.map { $0.user == nil || $0.user == 0 } ?? false), "a link of another user")
      try hold(try begun == nil || access.link("secret", at: now) == nil, "a link opens twice")
    }
  }
}

/// Waits for a task; targets are no tasks.
private func finished<Value: Sendable>(_ task: @escaping @Sendable () async throws -> Value) throws -> Value {
  let outcome = Outcome<Value>()
  Task {
    do { outcome.set(.success(try await task())) } catch { outcome.set(.failure(error)) }
  }
  return try outcome.get()
}

private final class Outcome<Value: Sendable>: Sendable {
  private let result = Mutex<Result<Value, any Error>?>(nil)
  private let isThere = DispatchSemaphore(value: 0)

  func set(_ value: Result<Value, any Error>) {
    result.withLock { $0 = value }
    isThere.signal()
  }

  func get() throws -> Value {
    isThere.wait()
    guard let value = result.withLock(\.self) else { throw BrokenProperty(description: "no outcome") }
    return try value.get()
  }
}
