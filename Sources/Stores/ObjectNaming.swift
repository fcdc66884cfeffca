import Digests
import Messages
import SettingKit

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
package struct ObjectNaming: Sendable, Hashable {
  private enum Part: Sendable, Hashable {
    case text(String)
    case inbox
    case conversation
    case message
    case digest
  }

  /// Only the digest, which reveals nothing about conversations.
  package static let digest = ObjectNaming(template: "{digest}", parts: [.digest])

  private static let names: [(String, Part)] = [
    ("inbox", .inbox), ("conversation", .conversation), ("message", .message), ("digest", .digest),
  ]
  /// Leaves room for two identifiers and a digest within S3's 1024 bytes.
  private static let longestTemplate = 400

  let template: String
  private let parts: [Part]
}

extension ObjectNaming {
  /// nil for an invalid template.
  package init?(_ template: String) {
    var parts = [Part]()
    var rest = template[...]
    while let open = rest.firstIndex(of: "{") {
      guard let close = rest[open...].firstIndex(of: "}") else { return nil }
      if open > rest.startIndex { parts.append(.text(String(rest[..<open]))) }
      let word = rest[rest.index(after: open)..<close]
      guard let part = Self.names.first(where: { $0.0 == word })?.1 else { return nil }
      parts.append(part)
      rest = rest[rest.index(after: close)...]
    }
    if !rest.isEmpty { parts.append(.text(String(rest))) }
    let texts = parts.map { if case .text(let text) = $0 { text } else { "" } }.joined()
    let folders = template.split(separator: "/", omittingEmptySubsequences: false)
    // Without either, photos would share a name.
    guard template.utf8.count <= Self.longestTemplate, parts.contains(.message) || parts.contains(.digest),
      folders.allSatisfy({ !["", ".", ".."].contains($0) }), !texts.contains("}"), !hasControlCharacter(texts)
    else { return nil }
    self.init(template: template, parts: parts)
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

extension ObjectNaming {
  static let kind = SettingKind<ObjectNaming>(
    expects: "an object's name such as `images/{conversation}/{message}/image.jpg`: at most 400 bytes, with "
      + "`{message}` or `{digest}` and, if you like, `{inbox}` and `{conversation}`, no folder empty, `.` or `..`",
    parse: { ObjectNaming($0) }, show: \.template)
}

extension SettingKind where Value == String {
  static var bucket: Self {
    Self(
      expects: "the name of a bucket: 1 to 255 letters, digits, `.`, `-` and `_`",
      accepts: { ![".", ".."].contains($0) && $0.wholeMatch(of: /[A-Za-z0-9._-]{1,255}/) != nil })
  }
}
