import FoundationEssentials
import Messages

/// One line of `published/CONVERSATION.jsonl`. Members keep this order and are never renamed once released; a member
/// that does not apply is absent.
struct LocalLine: Sendable {
  let outgoing: OutgoingMessage
  let publishedAt: Timestamp

  init(_ outgoing: OutgoingMessage, publishedAt: Timestamp) {
    self.outgoing = outgoing
    self.publishedAt = publishedAt
  }

  /// The line with its newline.
  var encoded: [UInt8] {
    var line = JSONObjectText()
    line.add("message", outgoing.message.text)
    line.add("request", outgoing.request)
    line.add("conversation", outgoing.conversation.text)
    line.add("inbox", outgoing.inbox.text)
    switch outgoing.content {
    case .photo(let attachment):
      line.add("kind", MessageKind.photo.rawValue)
      line.add("attachment", Self.text(of: attachment))
    case .text(let text):
      line.add("kind", MessageKind.text.rawValue)
      line.add("text", text)
    }
    line.add("publishedAt", publishedAt.description)
    return Array("\(line)\n".utf8)
  }

  /// How every line of `message` begins.
  static func opening(of message: MessageID) -> [UInt8] {
    var line = JSONObjectText()
    line.add("message", message.text)
    return line.description.utf8.dropLast() + [UInt8(ascii: ",")]
  }

  private static func text(of attachment: Attachment) -> JSONObjectText {
    var object = JSONObjectText()
    object.add("url", attachment.url)
    object.add("contentDigest", attachment.contentDigest)
    if let secret = attachment.secret { object.add("secret", secret) }
    if let salt = attachment.salt { object.add("salt", salt) }
    if let nonce = attachment.nonce { object.add("nonce", nonce) }
    object.add("scheme", attachment.scheme)
    object.add("contentLength", attachment.contentLength)
    object.add("filename", attachment.filename)
    object.add("mimeType", attachment.mimeType)
    object.add("width", attachment.width)
    object.add("height", attachment.height)
    return object
  }

  var publication: Publication {
    switch outgoing.content {
    case .photo(let attachment): Publication(publishedAt: publishedAt, remoteID: nil, attachment: attachment)
    case .text: Publication(publishedAt: publishedAt, remoteID: nil, attachment: nil)
    }
  }
}

extension LocalLine {
  private struct Members: Decodable {
    let message: String
    let request: String
    let conversation: String
    let inbox: String
    let kind: MessageKind
    let text: String?
    let attachment: Attachment?
    let publishedAt: String
  }

  /// Reads a line back, with its newline or without; nil when it is none of ours.
  init?(_ bytes: some Sequence<UInt8>) {
    guard let members = try? JSONDecoder().decode(Members.self, from: Data(bytes)),
      let publishedAt = Timestamp(members.publishedAt)
    else { return nil }
    let content: OutgoingMessage.Content
    switch (members.kind, members.attachment, members.text) {
    case (.photo, let attachment?, nil): content = .photo(attachment)
    case (.text, nil, let text?): content = .text(text)
    default: return nil
    }
    outgoing = OutgoingMessage(
      message: MessageID(unchecked: members.message), request: members.request,
      conversation: ConversationID(unchecked: members.conversation), inbox: InboxID(unchecked: members.inbox),
      content: content)
    self.publishedAt = publishedAt
  }
}
