import Digests
import DurableFiles
import Glibc
import Messages

/// Something to be received, as a bridge dropped it: bounded and readable; what the attachment says is not looked at yet.
package struct Incoming: Sendable {
  package let conversation: ConversationID
  /// Nil when the bridge left it to the configuration.
  package let inbox: InboxID?
  /// The message's id on its network.
  package let message: RemoteMessageID
  /// Who sent it; nil when the bridge does not say.
  package let sender: SenderID?
  /// JSON, or an encoded XMTP content.
  package let attachment: [UInt8]
}

/// The id that a network gave a message: one line of 1 to 255 bytes of UTF-8 without control characters.
package struct RemoteMessageID: Identifier {
  package static let noun = "message"
  package let text: String
  package init(unchecked text: String) { self.text = text }
}

/// How large something in `incoming/new/` may be.
package enum IncomingLimits {
  /// Bytes of `attachment`; an XMTP message has at most about as many.
  package static let attachmentBytes = 1 << 20
  /// Names in the directory: the five, and what photospool itself left in one that was refused before.
  static let entries = 8
}

/// Why something cannot be received: one sentence that says what is wrong and what to do.
package struct IncomingRefusal: Error, Equatable, Sendable, CustomStringConvertible {
  package let description: String

  package init(_ sentence: String) { description = sentence }
}

/// Reads a directory of `incoming/new/` as hostile input: by descriptor, no link followed, nothing blocking, everything
/// bounded. It is read once, so that nobody can change it afterwards.
package enum IncomingReader {
  /// - Throws: `IncomingRefusal` when it cannot be received; `FileError` when the disk fails.
  package static func read(_ directory: Directory) throws -> Incoming {
    do { return try incoming(directory) } catch let refusal as Refusal {
      throw IncomingRefusal(refusal.description)
    }
  }

  private static func incoming(_ directory: Directory) throws -> Incoming {
    let owner = try directory.entry().owner
    var found = [String: [UInt8]]()
    for name in try names(in: directory) where name != "error" && name != ".error.tmp" {
      guard let limit = limit(of: name) else {
        throw IncomingRefusal(
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
      return try RequestReader.identifier(
        kind, text.hasSuffix("\n") ? String(text.unicodeScalars.dropLast()) : text, in: name)
    }
    func needed<Value>(_ value: Value?, _ name: String) throws -> Value {
      guard let value else { throw IncomingRefusal("there is no file named \(name); add it and rename it again") }
      return value
    }
    return Incoming(
      conversation: try needed(field("from-conversation", ConversationID.self), "from-conversation"),
      inbox: try field("inbox", InboxID.self), message: try needed(field("message", RemoteMessageID.self), "message"),
      sender: try field("sender", SenderID.self), attachment: try needed(found["attachment"], "attachment"))
  }

  /// Bytes that the file may have; nil when there is no such file.
  private static func limit(of name: String) -> Int? {
    switch name {
    case "from-conversation", "inbox", "message", "sender": RequestLimits.fieldBytes
    case "attachment": IncomingLimits.attachmentBytes
    default: nil
    }
  }

  private static func names(in directory: Directory) throws -> [String] {
    var names = [String]()
    var isTooMany = false
    try directory.forEachName { bytes in
      names.append(String(decoding: bytes, as: UTF8.self))
      isTooMany = names.count > IncomingLimits.entries
      return !isTooMany
    }
    if isTooMany {
      throw IncomingRefusal(
        "the directory holds more than \(IncomingLimits.entries) names; it has to hold from-conversation, inbox, message,"
          + " sender and attachment")
    }
    return names.sorted()
  }
}
