import DurableFiles
import Glibc
import Messages
import Spooling
import WebAccess

/// Photos and text that another program of a phone shares, until the person has chosen the conversation.
///
/// It is a directory in `tmp/`. The janitor removes what nobody chose, with other entries of `tmp/`.
struct SharedMessage: Sendable {
  let id: String
  private let name: String
  private let spool: Spool
  private let directory: Directory

  private static let textFile = "text"

  /// Opens what a session has shared; nil if it is gone.
  init?(_ id: String, of session: WebSession, in spool: Spool) throws {
    let name = Self.name(id, session)
    guard id.utf8.count < 32, id.allSatisfy(\.isHexDigit), try spool.tmp.entry(name) != nil else { return nil }
    try self.init(id, name, spool)
  }

  private init(_ id: String, _ name: String, _ spool: Spool) throws {
    (self.id, self.name, self.spool, directory) = (id, name, spool, try spool.tmp.directory(name))
  }

  /// Keeps photos and a text; empty for none.
  static func keep(_ photos: [File], text: String, of session: WebSession, in spool: Spool) throws -> SharedMessage {
    let id = String(UInt64.random(in: 0 ... .max), radix: 16)
    let name = name(id, session)
    guard try spool.tmp.make(name) else { throw FileError("make directory", name, code: EEXIST) }
    let message = try SharedMessage(id, name, spool)
    for (index, photo) in photos.enumerated() {
      let original = inAddress(photo.name ?? "photo")
      let copy = "\(10 + index)-\(original.utf8.count <= 200 ? original : "photo")"
      let bytes = try message.directory.put(photo, limit: RequestLimits.photoBytes, as: copy, mode: 0o660)
      guard bytes <= RequestLimits.photoBytes else { throw Site.tooMany }
    }
    if !text.isEmpty { try message.directory.put(Array(text.utf8), as: textFile) }
    return message
  }

  private static func name(_ id: String, _ session: WebSession) -> String { ".web-share-\(session.id)-\(id)" }

  private var photos: [String] { get throws { try directory.names().filter { $0 != Self.textFile }.sorted() } }

  /// Such as "2 photos and a text".
  var sentence: String {
    get throws {
      let count = try photos.count
      let words = [
        count == 0 ? nil : count == 1 ? "a photo" : "\(count) photos",
        try directory.entry(Self.textFile) == nil ? nil : "a text",
      ]
      return words.compactMap(\.self).joined(separator: " and ")
    }
  }

  /// Puts it into the draft of a conversation. What a full draft has no room for stays here.
  func move(to conversation: ConversationID, _ desk: DraftDesk, for session: WebSession) throws {
    _ = try desk.add(to: conversation, for: session) { draft in
      for photo in try photos {
        let whole = Spool.unnamed()
        guard try directory.move(photo, to: spool.tmp, as: whole) else { continue }
        do { _ = try draft.add(whole, called: String(percentEncoded: photo.dropFirst(3)) ?? "photo") } catch {
          _ = try? spool.tmp.move(whole, to: directory, as: photo)
          if case Refusal.tooManyPhotos = error { throw Site.tooMany }
          throw error
        }
      }
      if let bytes = try? directory.file(Self.textFile).contents(limit: RequestLimits.textFileBytes) {
        let text = String(decoding: bytes, as: UTF8.self)
        try draft.setText([try draft.text(), text].compactMap(\.self).joined(separator: "\n"))
      }
    }
    try spool.tmp.removeTree(name)
  }
}
