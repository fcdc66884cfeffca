import Messages
import Networks

extension OutgoingMessage {
  /// A message of the inbox `me`.
  init(
    _ id: String, _ content: Content = .text("hello"), to address: String = "family", firstTriedAt: Timestamp? = nil
  ) {
    self.init(
      message: MessageID(unchecked: id), request: "r", address: Address(unchecked: address),
      inbox: InboxID(unchecked: "me"), content: content, firstTriedAt: firstTriedAt)
  }

  /// The same message with its reserved id.
  func reserved(as id: String?) -> OutgoingMessage {
    var message = self
    message.reserved = id
    return message
  }
}

extension HeardConversations {
  /// The conversation at an address.
  init(_ address: String, as conversation: String = "family") {
    self.init(named: [(Address(unchecked: address), ConversationID(unchecked: conversation))])
  }
}

extension TriedMessage {
  init(_ id: String, to address: String = "family", reserved: String? = nil, photo: (Int, Int)? = nil) {
    self.init(
      message: MessageID(unchecked: id), address: Address(unchecked: address), reserved: reserved, photo: photo)
  }
}
