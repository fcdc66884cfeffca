import Messages

/// In which conversations a network is listened to, and what they are called here: the routes of the configuration, read
/// backwards.
package struct HeardConversations: Sendable {
  /// A conversation that a route names.
  package struct Named: Sendable, Equatable {
    /// What it is called on the network.
    package let address: String
    /// What it is called here.
    package let conversation: ConversationID

    package init(address: String, conversation: ConversationID) {
      self.address = address
      self.conversation = conversation
    }
  }

  package let named: [Named]
  /// Whether messages to a conversation go this way that no route names, and so it is listened to under its own name;
  /// nil when there are none such.
  package let others: (@Sendable (ConversationID) -> Bool)?

  package init(named: [Named], others: (@Sendable (ConversationID) -> Bool)? = nil) {
    self.named = named
    self.others = others
  }

  /// What a conversation of that address is called here; nil when it is not listened to.
  package func conversation(at address: String) -> ConversationID? {
    if let named = named.first(where: { $0.address == address }) { return named.conversation }
    guard let conversation = try? ConversationID(address), let others, others(conversation) else { return nil }
    return conversation
  }
}
