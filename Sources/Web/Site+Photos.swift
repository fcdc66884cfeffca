import Control
import DurableFiles
import Foundation
import HTTPTypes
import Hummingbird
import Ledgers
import Messages
import Spooling
import WebAccess

extension Site {
  /// Bytes of a photo in the cache, at most.
  private static let mostBytes = 4 << 20

  func addPhotos(to routes: Routes) {
    routes.show("photo/:id", may: .see, "photo", title: "Photo") { _, context, session in
      try source(session).viewer(context.parameters.require("id"))
    }
    routes.router.get("photo/:id/:part") { request, context in
      let (id, file) = (try context.parameters.require("id"), try context.parameters.require("part"))
      let isSaved = request.uri.query?.hasPrefix("save") ?? false
      let (secret, user) = (secret(request), user(of: context))
      // All in one turn of a thread: pages ask for many pictures at once.
      return try await pool.run {
        try picture(id, file, isSaved: isSaved, self.session(secret, user, isUse: false, may: .see))
      }
    }
    routes.on(.post, "photo/:id/:part", may: .see) { request, context, session in
      let (id, act) = (try context.parameters.require("id"), try context.parameters.require("part"))
      let story = try await pool.run { try ledger().photo(id, for: session) }
      let orders: [String: ControlRequest] = ["reveal": .reveal([id]), "hide": .hide([id]), "fetch": .want([id])]
      guard let order = orders[act] else { throw WebProblem(.notFound, "There is no such page.") }
      let form = try await Self.fields(of: request)
      _ = try await self.order(order)
      logAct(act, session, ["photo": "\(id)"])
      let name = inAddress(story.conversation.text)
      return Self.redirect(to: form["back"] == "photo" ? "/photo/\(id)" : "/conversation?name=\(name)&at=\(id)#\(id)")
    }
  }

  /// A file of the cache, if it may be shown: of a hidden photo only the blurred preview.
  private func picture(_ id: String, _ file: String, isSaved: Bool, _ session: WebSession) throws -> Response {
    let ledger = try ledger()
    let story = try ledger.photo(id, for: session)
    let names = ["thumbnail": "thumbnail.jpg", "blurred": "blurred.jpg", "original": PhotoCache.originalName]
    guard let name = names[file] else { throw WebProblem(.notFound, "There is no such page.") }
    if story.isHidden && file != "blurred" { throw WebProblem(.conflict, "This photo is hidden. Reveal it first.") }
    let kept = try PhotoCache(spool).file(name, at: story.place)
    guard let bytes = try kept.flatMap({ try ByteBuffer(contentsOf: $0, limit: Self.mostBytes) })
    else { throw WebProblem(.notFound, "This photo is not kept here any more.") }
    if file == "original" { viewed.tell(id) { (try? ControlClient.leave(.viewed(id), in: spool.state)) ?? false } }
    var headers: HTTPFields = [.contentType: "image/jpeg", .contentSecurityPolicy: "sandbox; default-src 'none'"]
    if isSaved {
      let time = try ledger.time(of: story.message)?.description.prefix(19).replacing(":", with: "")
      let name = "\(story.conversation.text.replacing("/", with: "_"))-\(time.map(String.init) ?? id).jpg"
      headers[.contentDisposition] = "attachment; filename*=UTF-8''\(inAddress(name))"
    }
    return Response(status: .ok, headers: headers, body: ResponseBody(inPieces: bytes))
  }

  /// The fields of a plain form.
  static func fields(of request: Request) async throws -> [String: String] {
    let body = try await request.whole(upTo: 8 << 10)
    return formFields(String(buffer: body))
  }
}

extension ResponseBody {
  /// Bytes that a slow browser can be seen to take.
  fileprivate init(inPieces bytes: ByteBuffer) {
    self.init(contentLength: bytes.readableBytes) { writer in
      var rest = bytes
      while let piece = rest.readSlice(length: min(rest.readableBytes, 256 << 10)), piece.readableBytes > 0 {
        try await writer.write(piece)
      }
      try await writer.finish(nil)
    }
  }
}

extension ByteBuffer {
  /// The contents of a file; nil if it is larger than `limit` bytes.
  fileprivate init?(contentsOf file: File, limit: Int) throws {
    let size = try file.entry().size
    guard size <= limit else { return nil }
    self.init()
    try writeWithUnsafeMutableBytes(minimumWritableBytes: size) { room in
      try file.fill(UnsafeMutableRawBufferPointer(rebasing: room[..<size]))
    }
  }
}

extension LedgerView {
  /// The photo with an id here, if this session may see it.
  func photo(_ id: String, for session: WebSession) throws -> PhotoStory {
    let story = try photos(called: id).first { $0.message.text == id }
    guard session.may(.see), let story, session.inbox == nil || story.inbox == session.inbox else {
      throw WebProblem.noPhoto
    }
    return story
  }
}

/// The fields of a body of type application/x-www-form-urlencoded. Of two with one name, the last counts.
func formFields(_ body: String) -> [String: String] { Dictionary(formPairs(body)) { $1 } }

/// The values of a field that a form may have several times, in their order.
func formValues(_ name: String, in body: String) -> [String] { formPairs(body).filter { $0.0 == name }.map(\.1) }

private func formPairs(_ body: String) -> [(String, String)] {
  body.split(separator: "&").compactMap { pair in
    let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
    func decoded(_ text: Substring) -> String? { String(percentEncoded: text.replacing("+", with: " ")) }
    guard let name = parts.first.flatMap(decoded), parts.count == 2, let value = decoded(parts[1]) else { return nil }
    return (name, value)
  }
}
