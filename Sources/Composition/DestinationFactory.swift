import Delivery
import HTTP
import Messages
import Networks
import Receiving
import Seals
import Secrets
import Settings
import Spooling
import Stores

/// Makes a spool's stores and networks, and the routes between them, from the configuration. It reads secrets. An error
/// names its store or network. Unchanged ones, secrets included, are reused with their state.
struct DestinationFactory: Sendable {
  private struct Made: Sendable {
    var stores: [(DestinationKey, any Store)] = []
    var networks: [(DestinationKey, any Network)] = []
    var listeners: [(DestinationKey, any Listener)] = []
    var anew: [String] = []
  }

  private var made = Made()
  private let former: Made
  private let settings: Settings
  private let surroundings: DestinationSurroundings

  /// - Parameters:
  ///   - former: the previous configuration's factory.
  ///   - log: gets the lines of a network's process.
  init(
    _ settings: Settings, spool: Spool, after former: DestinationFactory? = nil,
    log: @escaping @Sendable (String) -> Void
  ) {
    self.settings = settings
    self.former = former?.made ?? Made()
    let sameClient = former.flatMap { $0.settings.http == settings.http ? $0.surroundings.client : nil }
    let client = sameClient ?? HTTPClient(settings.http.client)
    surroundings = DestinationSurroundings(
      objects: spool.objects.path, published: spool.published, state: spool.state, client: client,
      limits: settings.http.limits,
      program: { Programs.path(of: $0) }, log: log)
  }

  /// Stores and networks that are new or changed.
  var anew: [String] { made.anew }

  mutating func destinations() throws -> Destinations {
    let stores = try settings.stores.map { store in try Self.naming("store \(store.name)") { try make(store) } }
    try Self.naming("stores") { try DirectoryStore.expectOwnDirectories(of: stores) }
    var networks: [String: Destinations.Configured] = [:]
    for settings in settings.networks {
      guard let place = self.settings.stores.first(where: { $0.name == settings.store }),
        let store = stores.first(where: { $0.name == settings.store })
      else { continue }
      let (key, network) = try Self.naming("network \(settings.name)") { try make(settings) }
      func route(_ seal: SealKind, audience: DestinationKey? = nil) throws -> Route {
        Route(
          seal: try Self.load(seal), store: store, network: network,
          key: RouteKey(seal: seal, store: DestinationKey(place), audience: audience))
      }
      // Public profile photos are not sealed; those of a group are sealed for it.
      let profile: Route? =
        switch type(of: settings.type).profilePhotos {
        case .sealed, .rejected: nil
        case .open: try route(.unsealed)
        case .perGroup: try route(settings.seal, audience: DestinationKey(network.name, profileAddress))
        }
      networks[settings.name] = .init(key: key, route: try route(settings.seal), profile: profile)
    }
    guard let standard = settings.networks.first.flatMap({ networks[$0.name]?.route }) else {
      throw Failure(.configuration, "there is no network in the configuration")
    }
    let rules = settings.routes.compactMap { rule in
      networks[rule.network].map { Destinations.Rule($0.route, address: rule.alias) { rule.matches($0.text) } }
    }
    return Destinations(
      standard: standard, rules: rules, profile: settings.profileNetwork.flatMap { networks[$0.name]?.profile },
      profileAddress: profileAddress,
      stores: stores, networks: settings.networks.compactMap { networks[$0.name] },
      publishedNames: settings.publishedNames)
  }

  /// The group of profile photos, by its name on the network.
  private var profileAddress: Address? {
    settings.profile.conversation.map { named in
      settings.route(of: named.text)?.alias ?? named.address
    }
  }

  static func naming<Result>(_ subject: String, _ make: () throws -> Result) throws -> Result {
    do { return try make() } catch let error as DeliveryError {
      throw Failure(.configuration, "\(subject): \(error.sentence)")
    } catch let error as SecretError {
      throw Failure(.configuration, "\(subject): \(error)")
    }
  }

  private static func load(_ seal: SealKind) throws -> any Seal {
    do { return try seal.load() } catch { throw Failure(.tryAgain, error.sentence) }
  }

  private static func load(_ secrets: [SecretSource]) throws -> [Secret] { try secrets.map { try $0.load() } }

  private mutating func make(_ store: StoreSettings) throws -> any Store {
    let key = DestinationKey(store, settings.http, try Self.load(store.type.secrets))
    let known = former.stores.first { $0.0 == key }?.1
    let result = try known ?? store.type.store(store.name, in: surroundings)
    made.stores.append((key, result))
    if known == nil { made.anew.append("store \(store.name)") }
    return result
  }

  private mutating func make(_ network: NetworkSettings) throws -> (DestinationKey, any Network) {
    var sending = network
    sending.listening = nil
    let key = DestinationKey(sending, settings.http, try Self.load(network.type.secrets))
    let known = former.networks.first { $0.0 == key }?.1
    let result = try known ?? network.type.network(network.name, in: surroundings)
    made.networks.append((key, result))
    if known == nil { made.anew.append("network \(network.name)") }
    return (key, result)
  }

  /// The listeners. Unchanged ones are reused.
  mutating func subscriptions() throws -> [Subscription] {
    try settings.networks.compactMap { network -> Subscription? in
      guard let inbox = network.listening else { return nil }
      return try Self.naming("network \(network.name)") {
        try listener(network).map { Subscription(listener: $0, inbox: inbox) }
      }
    }
  }

  private mutating func listener(_ network: NetworkSettings) throws -> (any Listener)? {
    let isStandard = network.name == settings.networks.first?.name
    let key = DestinationKey(network, settings.routes, isStandard, settings.http, try Self.load(network.type.secrets))
    let known = former.listeners.first { $0.0 == key }?.1
    guard let sender = made.networks.first(where: { $0.1.name == network.name })?.1,
      let result = try known
        ?? (network.type as? any ListeningNetworkType)?.listener(
          to: sender, settings.heardConversations(on: network), in: surroundings)
    else { return nil }
    made.listeners.append((key, result))
    return result
  }
}

extension Settings {
  var profileNetwork: NetworkSettings? {
    let name = profile.network ?? networks.first?.name
    return networks.first { $0.name == name }
  }

  package func network(of conversation: ConversationID) -> NetworkSettings? {
    let name = route(of: conversation.text)?.network
    return name.map { name in networks.first { $0.name == name } } ?? networks.first
  }

  /// The names under which files of the spool may hold a conversation's published messages.
  func publishedNames(of conversation: ConversationID) -> [ConversationID] {
    guard !conversation.isProfile, let alias = route(of: conversation.text)?.alias,
      let network = network(of: conversation),
      Swift.type(of: network.type).publishesIntoSpool
    else { return [conversation] }
    return [conversation, ConversationID(unchecked: alias.text)]
  }
}
