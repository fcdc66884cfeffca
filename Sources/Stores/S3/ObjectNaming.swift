import Digests
import Messages

/// What an object may be named after.
package struct ObjectOrigin: Sendable {
  /// Of the object's bytes.
  package let digest: SHA256Digest
  package let inbox: InboxID
  package let conversation: ConversationID
  package let message: MessageID
  /// An upload of this message was begun before, with other keys and so with other bytes, and may still be stored.
  package let isRepeated: Bool

  package init(
    digest: SHA256Digest, inbox: InboxID, conversation: ConversationID, message: MessageID, isRepeated: Bool
  ) {
    self.digest = digest
    self.inbox = inbox
    self.conversation = conversation
    self.message = message
    self.isRepeated = isRepeated
  }
}

/// How objects are named: `{digest}`, or a template such as `images/{conversation}/{message}/image.jpg`.
///
/// Values are escaped like file names, so that none can leave its folder and no two share one. Two different objects
/// never get one name: where the template has no `{digest}`, an object that replaces another of its message gets the
/// digest's first half before the name's ending.
package struct ObjectNaming: Sendable, Equatable {
  private enum Part: Sendable, Equatable {
    case text(String)
    case inbox
    case conversation
    case message
    case digest
  }

  /// Just the digest, so that the store learns nothing of conversations.
  package static let digest = ObjectNaming(parts: [.digest])

  private static let names: [(String, Part)] = [
    ("inbox", .inbox), ("conversation", .conversation), ("message", .message), ("digest", .digest),
  ]
  /// Leaves room for two identifiers and a digest within the 1024 bytes that S3 allows a name.
  private static let longestTemplate = 400

  private let parts: [Part]

  private init(parts: [Part]) { self.parts = parts }

  /// - Throws: one sentence that says what is wrong with the template.
  package init(_ template: String) throws(ObjectNamingError) {
    var parts = [Part]()
    var rest = template[...]
    while let open = rest.firstIndex(of: "{") {
      guard let close = rest[open...].firstIndex(of: "}") else {
        throw ObjectNamingError("a `{` has no `}`", in: template)
      }
      if open > rest.startIndex { parts.append(.text(String(rest[..<open]))) }
      let word = rest[rest.index(after: open)..<close]
      guard let part = Self.names.first(where: { $0.0 == word })?.1 else {
        throw ObjectNamingError(
          "`{\(word)}` is none of `{inbox}`, `{conversation}`, `{message}` and `{digest}`", in: template)
      }
      parts.append(part)
      rest = rest[rest.index(after: close)...]
    }
    if !rest.isEmpty { parts.append(.text(String(rest))) }
    try Self.check(parts, template)
    self.parts = parts
  }

  private static func check(_ parts: [Part], _ template: String) throws(ObjectNamingError) {
    guard template.utf8.count <= longestTemplate else {
      throw ObjectNamingError("it has more than \(longestTemplate) bytes", in: template)
    }
    guard parts.contains(.message) || parts.contains(.digest) else {
      throw ObjectNamingError("it needs `{message}` or `{digest}`, or photos would share a name", in: template)
    }
    let folders = template.split(separator: "/", omittingEmptySubsequences: false)
    guard folders.allSatisfy({ !["", ".", ".."].contains($0) }) else {
      throw ObjectNamingError("a folder's name is empty, `.` or `..`", in: template)
    }
    let texts = parts.map { if case .text(let text) = $0 { text } else { "" } }.joined()
    guard !texts.contains("}"), !texts.unicodeScalars.contains(where: { $0.properties.generalCategory == .control })
    else { throw ObjectNamingError("it holds a stray `}` or a control character", in: template) }
  }

  /// The name of the object that was made from `origin`.
  package func name(_ origin: ObjectOrigin) -> ObjectName {
    let name = parts.map { part in
      switch part {
      case .text(let text): text
      case .inbox: origin.inbox.fileName
      case .conversation: origin.conversation.fileName
      case .message: origin.message.text
      case .digest: origin.digest.hex
      }
    }.joined()
    if parts.contains(.digest) || !origin.isRepeated { return ObjectName(name, of: origin.digest) }
    let ending = name.lastIndex(of: ".").flatMap { name[$0...].contains("/") ? nil : $0 } ?? name.endIndex
    return ObjectName("\(name[..<ending])-\(origin.digest.hex.prefix(32))\(name[ending...])", of: origin.digest)
  }
}

/// Why a template names no objects.
package struct ObjectNamingError: Error, Equatable, CustomStringConvertible {
  package let description: String

  init(_ fault: String, in template: String) { description = "the object name `\(template)` does not do: \(fault)" }
}
