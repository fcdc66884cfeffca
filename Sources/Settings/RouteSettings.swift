/// Which conversations go to a network that is not the standard one.
package struct RouteSettings: Sendable, Hashable {
  /// The conversations as they are written: exact, or with `*` and `?`.
  package var conversations: [String] { patterns.map(\.text) }
  /// One of `Settings.networks`.
  package let network: String
  /// What the conversation is called on that network; nil is as here.
  package let alias: String?

  let patterns: [ConversationPattern]

  /// Whether messages to `conversation` go this way, unless an earlier route takes them.
  package func matches(_ conversation: String) -> Bool { patterns.contains { $0.matches(conversation) } }
}

extension Settings {
  /// The first route that takes the conversation; nil is the standard network.
  package func route(of conversation: String) -> RouteSettings? { routes.first { $0.matches(conversation) } }
}
