import DurableFiles
import Messages

/// A message in `incoming/new/`, from a bridge or heard on a network; its attachment is not parsed yet.
package struct Incoming: Sendable {
  package let conversation: ConversationID
  /// nil means the configured inbox.
  package let inbox: InboxID?
  /// The message's id on its network.
  package let message: RemoteMessageID
  /// nil if unknown.
  package let sender: SenderID?
  /// JSON, or an encoded XMTP content; at most `IncomingLimits.attachmentBytes`.
  package let attachment: [UInt8]

  package init(
    conversation: ConversationID, inbox: InboxID?, message: RemoteMessageID, sender: SenderID?, attachment: [UInt8]
  ) {
    self.conversation = conversation
    self.inbox = inbox
    self.message = message
    self.sender = sender
    self.attachment = attachment
  }
}

/// A network's id of a message: one line of 1 to 255 bytes of UTF-8 without control characters.
package struct RemoteMessageID: Identifier {
  package static let noun = "message"
  package let text: String
  package init(unchecked text: String) { self.text = text }
}

/// Size limits of an entry in `incoming/new/`.
package enum IncomingLimits {
  /// About the size limit of an XMTP message.
  package static let attachmentBytes = 1 << 20
  /// The five file names, and what photospool left in an entry refused before.
  static let entries = 8
}

/// Reads a directory of `incoming/new/` as hostile input: by descriptor, without following links, without blocking,
/// within limits, and once, so that later changes have no effect.
package enum IncomingReader {
  /// - Throws: `Refusal` if it is invalid; `FileError` if the disk fails.
  package static func read(_ directory: Directory) throws -> Incoming {
    let owner = try directory.entry().owner
    var found = [String: [UInt8]]()
    for name in try names(in: directory) where name != "error" && name != ".error.tmp" {
      guard let limit = limit(of: name) else {
        throw Refusal.incoming(
          "\(escaped(name)) is not part of what is received; only from-conversation, inbox, message, sender and"
            + " attachment are; remove it")
      }
      let file = try RequestReader.open(name, in: directory, owner: owner)
      guard let contents = try file.contents(limit: limit) else {
        throw Refusal.tooLarge(file: name, bytes: try file.entry().size, limit: limit)
      }
      found[name] = contents
    }
    func field<ID: Identifier>(_ name: String, _ kind: ID.Type) throws -> ID? {
      guard let contents = found[name] else { return nil }
      guard let text = String(validating: contents, as: UTF8.self) else { throw Refusal.notUTF8(name) }
      return try RequestReader.identifier(kind, text.withoutLastNewline, in: name)
    }
    func needed<Value>(_ value: Value?, _ name: String) throws -> Value {
      guard let value else { throw Refusal.incoming("there is no file named \(name); add it and rename it again") }
      return value
    }
    return Incoming(
      conversation: try needed(field("from-conversation", ConversationID.self), "from-conversation"),
      inbox: try field("inbox", InboxID.self), message: try needed(field("message", RemoteMessageID.self), "message"),
      sender: try field("sender", SenderID.self), attachment: try needed(found["attachment"], "attachment"))
  }

  /// The size limit of a file; nil if the name is not allowed.
  private static func limit(of name: String) -> Int? {
    switch name {
    case "from-conversation", "inbox", "message", "sender": RequestLimits.fieldBytes
    case "attachment": IncomingLimits.attachmentBytes
    default: nil
    }
  }

  private static func names(in directory: Directory) throws -> [String] {
    var names = [String]()
    try directory.forEachName { bytes in
      names.append(String(decoding: bytes, as: UTF8.self))
      return names.count <= IncomingLimits.entries
    }
    if names.count > IncomingLimits.entries {
      throw Refusal.incoming(
        "the directory holds more than \(IncomingLimits.entries) names; it has to hold from-conversation, inbox, message,"
          + " sender and attachment")
    }
    return names.sorted()
  }
}
