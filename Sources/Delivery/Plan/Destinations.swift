import Ledgers
import Messages
import Networks
import Seals
import Stores

/// The route of a conversation: seal, store and network.
package struct Route: Sendable {
  package let seal: any Seal
  package let store: any Store
  package let network: any Network
  /// The key of its seal and store.
  package let key: RouteKey

  /// The destinations that its conversations may wait for. Each lane has its own places.
  var lane: String { "\(network.name) \(store.name)" }

  package init(seal: any Seal, store: any Store, network: any Network, key: RouteKey) {
    self.seal = seal
    self.store = store
    self.network = network
    self.key = key
  }
}

/// Resolves conversations to routes when they are needed. The queue holds names, never addresses or secrets.
package struct Destinations: Sendable {
  package struct Rule: Sendable {
    let matches: @Sendable (ConversationID) -> Bool
    let route: Route
    /// The conversation's name on the network; nil means the same.
    let address: Address?

    package init(
      _ route: Route, address: Address? = nil, matches: @escaping @Sendable (ConversationID) -> Bool
    ) {
      self.route = route
      self.address = address
      self.matches = matches
    }
  }

  /// A configured network with its key, its route, and the route of its profile photos.
  package struct Configured: Sendable {
    let key: DestinationKey
    package let route: Route
    package let profile: Route
    package var network: any Network { route.network }

    package init(key: DestinationKey, route: Route, profile: Route? = nil) {
      self.key = key
      self.route = route
      self.profile = profile ?? route
    }
  }

  /// The route of conversations without a rule.
  package let standard: Route
  /// All configured stores, because uploads to them may have to be deleted.
  package let stores: [any Store]
  package let networks: [Configured]
  private let profile: Route
  /// The conversation of profile photos on that network; nil if they belong to none.
  private let profileAddress: Address?
  private let rules: [Rule]
  /// The names under which files of the spool may hold a conversation's published messages.
  package let publishedNames: @Sendable (ConversationID) -> [ConversationID]
  let lanes: Set<String>

  /// - Parameters:
  ///   - stores: nil means the standard route's only.
  ///   - networks: nil means the standard route's only.
  ///   - profile: nil means the standard route.
  ///   - profileAddress: nil if profile photos belong to no conversation.
  ///   - publishedNames: by default, the conversation's own name.
  package init(
    standard: Route, rules: [Rule] = [], profile: Route? = nil, profileAddress: Address? = nil,
    stores: [any Store]? = nil, networks: [Configured]? = nil,
    publishedNames: @escaping @Sendable (ConversationID) -> [ConversationID] = { [$0] }
  ) {
    self.standard = standard
    self.rules = rules
    self.profile = profile ?? standard
    self.profileAddress = profileAddress
    self.stores = stores ?? [standard.store]
    self.networks = networks ?? [Configured(key: DestinationKey(standard.network.name), route: standard)]
    self.publishedNames = publishedNames
    lanes = Set([standard.lane, self.profile.lane] + rules.map(\.route.lane))
  }

  /// The route of a conversation; the first matching rule decides.
  package func route(for conversation: ConversationID) -> Route { way(of: conversation).route }

  /// The route and the address of a conversation.
  func way(of conversation: ConversationID) -> (route: Route, address: Address) {
    if conversation.isProfile { return (profile, profileAddress ?? conversation.address) }
    let rule = rules.first { $0.matches(conversation) }
    return (rule?.route ?? standard, rule?.address ?? conversation.address)
  }

  /// The route and the address of a message: those of the recipient that may have published it, else those of its
  /// conversation.
  ///
  /// - Throws: `config_error` if that recipient's network is not configured any more, because then only people can tell
  ///   whether it was published.
  func way(of message: QueuedMessage) throws(DeliveryError) -> (route: Route, address: Address) {
    let (route, address) = way(of: message.conversation)
    guard let offered = message.offeredTo, offered != Recipient(network: route.network.name, address: address) else {
      return (route, address)
    }
    if offered.network == route.network.name { return (route, offered.address) }
    guard let former = networks.first(where: { $0.network.name == offered.network }) else {
      throw DeliveryError(
        .configError,
        "the network \(offered.network) may have published it and is configured no more; configure it again, or look there "
          + "and cancel the request")
    }
    return (message.conversation.isProfile ? former.profile : former.route, offered.address)
  }

  /// The directories of local stores, by the store's name.
  package var objectDirectories: [String: String] {
    Dictionary(stores.compactMap { ($0 as? DirectoryStore).map { ($0.name, $0.path) } }) { first, _ in first }
  }

  /// The store of that name, if it is still configured.
  package func store(named name: String) -> (any Store)? { stores.first { $0.name == name } }
}
