import Messages
import Networks
import Seals
import Stores

/// The way of a conversation's messages: how photos are sealed, where they are kept, who publishes.
package struct Route: Sendable {
  package let seal: any Seal
  package let store: any Store
  package let network: any Network
  /// How its photos are sealed and where they are kept.
  package let key: RouteKey

  /// Whom its conversations may have to wait for. Those of each have places of their own, so that they wait for nobody else.
  var lane: String { "\(network.name) \(store.name)" }

  package init(seal: any Seal, store: any Store, network: any Network, key: RouteKey) {
    self.seal = seal
    self.store = store
    self.network = network
    self.key = key
  }
}

/// Resolves conversations to routes at the moment of use: what is queued holds names, never addresses or secrets.
package struct Destinations: Sendable {
  /// A route for some conversations.
  package struct Rule: Sendable {
    let matches: @Sendable (ConversationID) -> Bool
    let route: Route
    /// What the conversation is called on the network; nil is its own name.
    let address: ConversationID?

    package init(
      _ route: Route, address: ConversationID? = nil, matches: @escaping @Sendable (ConversationID) -> Bool
    ) {
      self.route = route
      self.address = address
      self.matches = matches
    }
  }

  /// A configured network, and what it was made of.
  package struct Configured: Sendable {
    let key: DestinationKey
    package let network: any Network

    package init(key: DestinationKey, network: any Network) {
      self.key = key
      self.network = network
    }
  }

  /// The route of every conversation that no rule matches.
  package let standard: Route
  /// Every store that is configured, whether a route leads to it or not: what was uploaded to it can be deleted.
  package let stores: [any Store]
  /// Every network that is configured, likewise.
  package let networks: [Configured]
  /// The route of profile photos, whatever the inbox.
  private let profile: Route
  /// The conversation of that network that they are set in; nil where profile photos belong to no conversation.
  private let profileAddress: ConversationID?
  private let rules: [Rule]
  /// Under which names files of the spool may have a conversation's messages that are published there.
  package let publishedNames: @Sendable (ConversationID) -> [ConversationID]
  /// Those of all routes.
  let lanes: Set<String>

  /// - Parameters:
  ///   - stores: all of them; nil is that of the standard route alone.
  ///   - networks: likewise.
  ///   - profile: the route of profile photos; nil is the standard one.
  ///   - profileAddress: the conversation of that network that they are set in; nil is none.
  ///   - publishedNames: by default, messages are published under the conversation's own name.
  package init(
    standard: Route, rules: [Rule] = [], profile: Route? = nil, profileAddress: ConversationID? = nil,
    stores: [any Store]? = nil, networks: [Configured]? = nil,
    publishedNames: @escaping @Sendable (ConversationID) -> [ConversationID] = { [$0] }
  ) {
    self.standard = standard
    self.rules = rules
    self.profile = profile ?? standard
    self.profileAddress = profileAddress
    self.stores = stores ?? [standard.store]
    self.networks =
      networks ?? [Configured(key: DestinationKey(standard.network.name), network: standard.network)]
    self.publishedNames = publishedNames
    lanes = Set([standard.lane, self.profile.lane] + rules.map(\.route.lane))
  }

  /// The route of a conversation: the first rule that matches decides.
  package func route(for conversation: ConversationID) -> Route {
    conversation.isProfile ? profile : rule(for: conversation)?.route ?? standard
  }

  /// What a conversation is called on its network.
  package func address(of conversation: ConversationID) -> ConversationID {
    (conversation.isProfile ? profileAddress : rule(for: conversation)?.address) ?? conversation
  }

  /// Where stores of this machine keep objects, by the store's name.
  package var objectDirectories: [String: String] {
    Dictionary(stores.compactMap { ($0 as? DirectoryStore).map { ($0.name, $0.path) } }) { first, _ in first }
  }

  private func rule(for conversation: ConversationID) -> Rule? {
    conversation.isProfile ? nil : rules.first { $0.matches(conversation) }
  }

  /// The store of that name; nil when it is configured no more.
  package func store(named name: String) -> (any Store)? { stores.first { $0.name == name } }
}
