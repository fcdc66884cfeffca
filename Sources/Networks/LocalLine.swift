import FoundationEssentials
import Messages

/// One line of `published/CONVERSATION.jsonl`. Members keep this order and are never renamed once released.
struct LocalLine: Codable, Equatable {
  let message: String
  let request: String
  let conversation: String
  let inbox: String
  let kind: MessageKind
  let text: String?
  let attachment: Attachment?
  let publishedAt: String

  init(_ outgoing: OutgoingMessage, publishedAt: Timestamp) {
    message = outgoing.message.text
    request = outgoing.request
    conversation = outgoing.conversation.text
    inbox = outgoing.inbox.text
    self.publishedAt = publishedAt.description
    switch outgoing.content {
    case .photo(let attachment):
      kind = .photo
      text = nil
      self.attachment = attachment
    case .text(let text):
      kind = .text
      self.text = text
      attachment = nil
    }
  }

  /// Reads a line back; nil when it is none of ours.
  init?(_ bytes: some Sequence<UInt8>) {
    guard let line = try? JSONDecoder().decode(LocalLine.self, from: Data(bytes)) else { return nil }
    self = line
  }

  /// The line with its newline. The encoder knows no order of members, so that they are put together here.
  func encoded() throws -> [UInt8] {
    let encoder = JSONEncoder()
    encoder.outputFormatting = .withoutEscapingSlashes
    func member(_ name: String, _ value: (some Encodable)?) throws -> String? {
      try value.map { "\"\(name)\":" + String(decoding: try encoder.encode($0), as: UTF8.self) }
    }
    let members = try [
      member("message", message), member("request", request), member("conversation", conversation),
      member("inbox", inbox), member("kind", kind), member("text", text), member("attachment", attachment),
      member("publishedAt", publishedAt),
    ]
    return Array("{\(members.compactMap { $0 }.joined(separator: ","))}\n".utf8)
  }

  var publication: Publication {
    Publication(publishedAt: Timestamp(publishedAt) ?? .now(), remoteID: nil, attachment: attachment)
  }
}
