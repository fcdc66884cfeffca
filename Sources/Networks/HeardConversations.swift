import Messages

/// The conversations to listen to on a network, and their configured names: the reverse of the routes.
package struct HeardConversations: Sendable {
  /// A conversation that a route names: its name on the network, and its configured name.
  package typealias Named = (address: Address, conversation: ConversationID)

  package let named: [Named]
  /// Whether a conversation without a named route is routed to this network, and is thus heard under its own name; nil
  /// if there are none.
  package let others: (@Sendable (ConversationID) -> Bool)?

  package init(named: [Named], others: (@Sendable (ConversationID) -> Bool)? = nil) {
    self.named = named
    self.others = others
  }

  /// The configured name of a conversation at an address; nil if it is not listened to.
  package func conversation(at address: Address) -> ConversationID? {
    if let named = named.first(where: { $0.address == address }) { return named.conversation }
    guard let conversation = try? ConversationID(address.text), let others, others(conversation) else { return nil }
    return conversation
  }
}
