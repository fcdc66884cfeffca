import FoundationEssentials
import Messages

/// A line of `published/CONVERSATION.jsonl`. The order of members is fixed, names are never renamed once released, and
/// members that do not apply are absent.
struct LocalLine: Sendable {
  let outgoing: OutgoingMessage
  let publishedAt: Timestamp

  /// The line with its newline.
  var encoded: [UInt8] {
    var line = outgoing.members
    line.add("publishedAt", publishedAt.description)
    return Array("\(line)\n".utf8)
  }

  /// The beginning of every line of `message`.
  static func opening(of message: MessageID) -> [UInt8] {
    let line: JSONObjectText = ["message": message.text]
    return line.description.utf8.dropLast() + [UInt8(ascii: ",")]
  }

  var publication: Publication {
    Publication(publishedAt: publishedAt, remoteID: nil, attachment: outgoing.content.attachment)
  }
}

extension LocalLine {
  private struct Members: Decodable {
    let message: String
    let request: String
    let conversation: String?
    let inbox: String
    let kind: MessageKind
    let text: String?
    let attachment: Attachment?
    let publishedAt: String
  }

  /// Parses a line, with or without its newline; nil if it is not one of ours.
  init?(_ bytes: some Sequence<UInt8>) {
    guard let members = try? JSONDecoder().decode(Members.self, from: Data(bytes)),
      let publishedAt = Timestamp(members.publishedAt)
    else { return nil }
    let content: OutgoingMessage.Content
    switch (members.kind, members.attachment, members.text) {
    case (.photo, let attachment?, nil): content = .photo(attachment)
    case (.text, nil, let text?): content = .text(text)
    case (.profile, let attachment?, nil): content = .profile(attachment)
    case (.profileRemoval, nil, nil): content = .profileRemoval
    default: return nil
    }
    let inbox = InboxID(unchecked: members.inbox)
    guard content.kind.isOfProfile == (members.conversation == nil) else { return nil }
    outgoing = OutgoingMessage(
      message: MessageID(unchecked: members.message), request: members.request,
      address: members.conversation.map(Address.init(unchecked:)) ?? ConversationID.profile(of: inbox).address,
      inbox: inbox, content: content)
    self.publishedAt = publishedAt
  }
}
