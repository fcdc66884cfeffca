import DurableFiles
import Foundation
import HTTPTypes
import Hummingbird
import Messages
import Spooling
import WebAccess

/// The facts of a draft for scripts.
private struct DraftAnswer: Codable {
  struct Photo: Codable {
    let file: String
    let name: String
    let bytes: Int
  }

  /// nil if there is none.
  var draft: String?
  var photos: [Photo] = []
  var text: String?
  /// The file that this request added.
  var added: String?

  init(_ draft: OpenDraft?, added: String? = nil) throws {
    guard let draft else { return }
    self.draft = draft.name.text
    photos = try draft.photos().map { Photo(file: $0.file, name: PhotoName.original($0.file), bytes: $0.bytes) }
    text = try draft.text()
    self.added = added
  }

  func response(_ status: HTTPResponse.Status = .ok) throws -> Response {
    Response(try JSONEncoder().encode(self), type: "application/json", status: status)
  }
}

/// Drafts: photos that are uploaded before Send.
extension Site {
  /// Bytes of a list of names.
  private static let longestOrder = 8 << 10

  func addDrafts(to routes: Routes) {
    routes.on(.post, "draft", may: .send) { request, _, session in
      let conversation = try Self.conversation(request)
      return try await desk.pool.run { try DraftAnswer(desk.find(to: conversation, for: session)).response() }
    }
    routes.on(.put, "draft/:draft/photo", may: .send) { request, _, session in
      let conversation = try Self.conversation(request)
      let original = Self.value("file", in: request) ?? "photo"
      let place = Self.value("place", in: request).flatMap(Int.init)
      let photo = try await uploads.count(session.id) {
        try await request.photo(called: original, into: spool, pool: pool)
      }
      return try await desk.pool.run {
        do {
          var file: String?
          let draft = try desk.add(to: conversation, for: session) {
            file = try $0.add(photo, called: original, at: place)
          }
          return try DraftAnswer(draft, added: file).response(.created)
        } catch {
          try? spool.tmp.remove(photo)
          if case Refusal.tooManyPhotos = error { throw Self.tooMany }
          throw error
        }
      }
    }
    routes.on(.delete, "draft/:draft/photo", may: .send) { request, context, session in
      let file = Self.value("file", in: request) ?? ""
      return try await change(context, session) { draft in
        try draft.remove(file)
        try desk.tidy(draft)
      }
    }
    routes.on(.post, "draft/:draft/order", may: .send) { request, context, session in
      let files = Self.photoNames(in: Array(buffer: try await request.whole(upTo: Self.longestOrder)))
      return try await change(context, session) { _ = try $0.order(files) }
    }
    routes.on(.put, "draft/:draft/text", may: .send) { request, _, session in
      let conversation = try Self.conversation(request)
      let text = try await Self.text(of: request)
      return try await desk.pool.run {
        guard let text else {
          let draft = try desk.find(to: conversation, for: session)
          try draft?.setText(nil)
          if let draft { try desk.tidy(draft) }
          return try DraftAnswer(desk.find(to: conversation, for: session)).response()
        }
        return try DraftAnswer(desk.add(to: conversation, for: session) { try $0.setText(text) }).response()
      }
    }
    routes.on(.delete, "draft/:draft", may: .send) { _, context, session in
      try await change(context, session) { try $0.delete(by: Spool.unnamed()) }
    }
    routes.on(.post, "draft/:draft/remove", may: .send) { request, context, session in
      let conversation = try Self.conversation(request)
      let (name, file) = (try context.parameters.require("draft"), Self.value("file", in: request) ?? "")
      let form = try await ReceivedForm(request, into: spool, pool: pool)
      try await desk.pool.run {
        guard let draft = try desk.draft(name, for: session) else { throw Self.gone }
        try draft.remove(file)
        // The form's own photos and text are kept.
        for photo in form.photos { try draft.add(photo, in: spool) }
        if form.fields["text"] != nil { try draft.setText(form.text) }
        try desk.tidy(draft)
      }
      return Self.redirect(to: "/conversation?name=\(inAddress(conversation.text))#text")
    }
  }

  /// Changes the draft that an address names.
  private func change(
    _ context: WebContext, _ session: WebSession, _ change: @escaping @Sendable (OpenDraft) throws -> Void
  ) async throws -> Response {
    let name = try context.parameters.require("draft")
    return try await desk.pool.run {
      guard let draft = try desk.draft(name, for: session) else { throw Self.gone }
      try change(draft)
      return try DraftAnswer(desk.draft(name, for: session)).response()
    }
  }

  /// The names in the body of an order, one a line.
  static func photoNames(in body: [UInt8]) -> [String] {
    body.split(separator: UInt8(ascii: "\n")).map { String(decoding: $0, as: UTF8.self) }
  }

  /// A text as a browser puts it; nil for a blank one.
  private static func text(of request: Request) async throws -> String? {
    let long = WebProblem(
      .contentTooLarge, "The text is longer than \(sizeInWords(RequestLimits.textBytes)). Make it shorter.")
    let body = try await request.whole(upTo: RequestLimits.textFileBytes, orElse: long)
    guard let text = String(validating: body.readableBytesView, as: UTF8.self) else {
      throw WebProblem(.badRequest, "The text is not UTF-8.")
    }
    guard text.utf8.count <= RequestLimits.textBytes else { throw long }
    return text.allSatisfy(\.isWhitespace) ? nil : text
  }

  static let gone = WebProblem(.notFound, "This draft is gone: it was sent or removed in another window.")
  static let tooMany = WebProblem(
    .unprocessableContent,
    "These are more than \(RequestLimits.photos) photos. Send the others in a second message.")
}

extension OpenDraft {
  /// Copies a received photo into the draft.
  func add(_ photo: File, in spool: Spool) throws {
    let name = Spool.unnamed()
    do {
      let bytes = try spool.tmp.put(photo, limit: RequestLimits.photoBytes, as: name, mode: 0o660)
      guard bytes <= RequestLimits.photoBytes else { throw Site.tooMany }
      _ = try add(name, called: photo.name ?? "photo")
    } catch {
      try? spool.tmp.remove(name)
      throw error
    }
  }
}
