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
  /// A route for some conversations.
  public struct Rule: Sendable {
    let matches: @Sendable (ConversationID) -> Bool
    let route: Route
    /// What the conversation is called on the network; nil is its own name.
    let address: ConversationID?

    public init(
      _ route: Route, address: ConversationID? = nil, matches: @escaping @Sendable (ConversationID) -> Bool
    ) {
      self.route = route
      self.address = address
      self.matches = matches
    }
  }

  /// The route of every conversation that no rule matches.
  public let standard: Route
  private let rules: [Rule]
  /// Stores that are configured, whether a route uses them or not: what was uploaded to them can be deleted.
  private let furtherStores: [any Store]

  public init(standard: Route, rules: [Rule] = [], furtherStores: [any Store] = []) {
    self.standard = standard
    self.rules = rules
    self.furtherStores = furtherStores
  }

  /// The route of a conversation: the first rule that matches decides.
  public func route(for conversation: ConversationID) -> Route { rule(for: conversation)?.route ?? standard }

  /// What a conversation is called on its network.
  public func address(of conversation: ConversationID) -> ConversationID {
    rule(for: conversation)?.address ?? conversation
  }

  private func rule(for conversation: ConversationID) -> Rule? { rules.first { $0.matches(conversation) } }

  /// Every store, once.
  public var stores: [any Store] {
    var known = Set<String>()
    return ([standard.store] + rules.map(\.route.store) + furtherStores).filter { known.insert($0.name).inserted }
  }

  /// Every network, once.
  public var networks: [any Network] {
    var known = Set<String>()
    return ([standard.network] + rules.map(\.route.network)).filter { known.insert($0.name).inserted }
  }

  /// The store of that name; nil when it is configured no more.
  public func store(named name: String) -> (any Store)? { stores.first { $0.name == name } }
}
