import Messages
import Networks
import Seals
import Stores

/// The way of a conversation's messages: how photos are sealed, where they are kept, who publishes.
public struct Route: Sendable {
  public let seal: any Seal
  public let store: any Store
  public let network: any Network

  public init(seal: any Seal, store: any Store, network: any Network) {
    self.seal = seal
    self.store = store
    self.network = network
  }
}

/// Resolves conversations to routes at the moment of use: what is queued holds names, never addresses or secrets.
public struct Destinations: Sendable {
  /// The route of every conversation.
  public let standard: Route

  public init(standard: Route) { self.standard = standard }

  /// The route of a conversation.
  public func route(for conversation: ConversationID) -> Route { standard }

  /// The store of that name; nil when it is configured no more.
  public func store(named name: String) -> (any Store)? { standard.store.name == name ? standard.store : nil }
}
