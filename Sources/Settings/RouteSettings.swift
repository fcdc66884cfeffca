import Messages

/// The conversations of another network than the standard one.
package struct RouteSettings: Sendable, Hashable {
  /// The conversations as written: exact, or with `*` and `?`.
  package var conversations: [String] { patterns.map(\.text) }
  /// The exact ones.
  package var exactConversations: [String] { patterns.filter { !$0.isPattern }.map(\.text) }
  /// A name in `Settings.networks`.
  package let network: String
  /// The conversation's name on that network; nil means the same.
  package let alias: Address?

  let patterns: [ConversationPattern]

  package func matches(_ conversation: String) -> Bool { patterns.contains { $0.matches(conversation) } }
}

extension Settings {
  /// The first matching route; nil means the standard network.
  package func route(of conversation: String) -> RouteSettings? { routes.first { $0.matches(conversation) } }
}
