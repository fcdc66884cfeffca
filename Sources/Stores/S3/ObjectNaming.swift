import Digests
import Messages

/// The values that an object may be named after.
package struct ObjectOrigin: Sendable {
  /// The digest of the object's bytes.
  package let digest: SHA256Digest
  package let inbox: InboxID
  package let conversation: ConversationID
  package let message: MessageID
  /// An earlier upload of this message, with other keys and bytes, may still be stored.
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

/// The naming of objects: `{digest}`, or a template such as `images/{conversation}/{message}/image.jpg`. Values are
/// escaped like file names, so that they cannot leave their folder or collide. Different objects never share a name:
/// without `{digest}` in the template, a further object of a message gets half of its digest before the name's ending.
package struct ObjectNaming: Sendable, Equatable {
  private enum Part: Sendable, Equatable {
    case text(String)
    case inbox
    case conversation
    case message
    case digest
  }

  /// Only the digest, which reveals nothing about conversations.
  package static let digest = ObjectNaming(parts: [.digest])

  private static let names: [(String, Part)] = [
    ("inbox", .inbox), ("conversation", .conversation), ("message", .message), ("digest", .digest),
  ]
  /// Leaves room for two identifiers and a digest within S3's 1024 bytes.
  private static let longestTemplate = 400

  private let parts: [Part]

  private init(parts: [Part]) { self.parts = parts }

  /// - Throws: one sentence about the template.
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
          "`{\(word)}` is not one of `{inbox}`, `{conversation}`, `{message}` and `{digest}`", in: template)
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

/// Why a template is invalid.
package struct ObjectNamingError: Error, Equatable, CustomStringConvertible {
  package let description: String

  init(_ fault: String, in template: String) { description = "the object name `\(template)` does not do: \(fault)" }
}
