import Blocking
import Delivery
import Foundation
import HTTP
import Matrix
import Messages
import Networks
import Seals
import Secrets
import Settings
import Spooling
import Stores
import Synchronization

/// Makes of the configuration the stores and networks of a spool, and the routes between them.
///
/// Secrets are read here, at that moment. What cannot be made is said with its name in front. What an earlier
/// configuration had made in the same way, with the same secrets, is taken over: it goes on with what it knows and keeps
/// running.
final class Connections: Sendable {
  /// What something was made of.
  struct Recipe<Settings: Equatable & Sendable>: Equatable, Sendable {
    let settings: Settings
    let http: HTTPSettings
    let secrets: [Secret]
  }

  struct Made: Sendable {
    var stores: [(Recipe<StoreSettings>, any Store)] = []
    var networks: [(Recipe<NetworkSettings>, any Network)] = []
    var listeners: [(Recipe<ListenerRecipe>, any Listener)] = []
    /// The names of those that are not as they were.
    var anew: [String] = []
  }

  let made = Mutex(Made())
  let former: Made
  let settings: Settings
  private let spool: Spool
  let log: @Sendable (String) -> Void
  let client: HTTPClient
  let limits: HTTPLimits

  /// - Parameters:
  ///   - former: those of the configuration before.
  ///   - log: is given what a network's own process says, line by line.
  init(
    _ settings: Settings, spool: Spool, after former: Connections? = nil, log: @escaping @Sendable (String) -> Void
  ) {
    self.settings = settings
    self.former = former?.made.withLock { $0 } ?? Made()
    self.spool = spool
    self.log = log
    let sameClient = former.flatMap { $0.settings.http == settings.http ? $0.client : nil }
    client = sameClient ?? HTTPClient(settings.http.client)
    limits = settings.http.limits
  }

  /// The stores and networks that are not as the configuration before had them.
  var anew: [String] { made.withLock { $0.anew } }

  func destinations() throws -> Destinations {
    let stores = try settings.stores.map { store in try naming("store \(store.name)") { try make(store) } }
    var routes: [String: Route] = [:]
    var networks: [any Network] = []
    for settings in settings.networks {
      guard let store = stores.first(where: { $0.name == settings.store }) else { continue }
      let network = try naming("network \(settings.name)") { try make(settings) }
      let place = self.settings.stores.first { $0.name == settings.store }
      routes[settings.name] = Route(
        seal: try seal(settings.seal), store: store, network: network,
        form: "\(settings.seal) \(place.map { "\($0)" } ?? "")")
      networks.append(network)
    }
    guard let standard = settings.networks.first.flatMap({ routes[$0.name] }) else {
      throw Failure(.configuration, "there is no network in the configuration")
    }
    let rules = settings.routes.compactMap { rule in
      routes[rule.network].map { route in
        Destinations.Rule(route, address: rule.alias.map(ConversationID.init(unchecked:))) { rule.matches($0.text) }
      }
    }
    return Destinations(
      standard: standard, rules: rules, profile: profileRoute(routes), profileAddress: profileAddress, stores: stores,
      networks: networks)
  }

  /// The group that profile photos are set in, as its network calls it.
  private var profileAddress: ConversationID? {
    settings.profile.conversation.map { named in
      let route = settings.routes.first { $0.matches(named.text) }
      return route?.alias.map(ConversationID.init(unchecked:)) ?? named
    }
  }

  /// The route of the network that profile photos are set on. Avatars of Matrix are public, and so not sealed; XMTP's are
  /// sealed for one group, and another one cannot open them.
  private func profileRoute(_ routes: [String: Route]) -> Route? {
    let name = settings.profile.network ?? settings.networks.first?.name
    guard let network = settings.networks.first(where: { $0.name == name }), let route = routes[network.name] else {
      return nil
    }
    let place = settings.stores.first { $0.name == network.store }
    switch network.kind {
    case .matrix:
      return Route(
        seal: NoSeal(), store: route.store, network: route.network,
        form: "\(Settings.Seal.unsealed) \(place.map { "\($0)" } ?? "")")
    case .xmtp:
      return Route(
        seal: route.seal, store: route.store, network: route.network,
        form: "\(network.name) \(profileAddress?.text ?? "") \(place.map { "\($0)" } ?? "")")
    case .local, .webhook, .exec: return route
    }
  }

  func naming<Result>(_ subject: String, _ make: () throws -> Result) throws -> Result {
    do { return try make() } catch let error as DeliveryError {
      throw Failure(.configuration, "\(subject): \(error.sentence)")
    } catch let error as SecretError {
      throw Failure(.configuration, "\(subject): \(error)")
    }
  }

  /// Threads of a destination's own, so that a directory which hangs holds up nobody else.
  private func pool(_ name: String) -> BlockingPool { BlockingPool(label: name, threads: 8) }

  private func seal(_ seal: Settings.Seal) throws -> any Seal {
    do {
      return switch seal {
      case .xmtp: try XMTPSeal().loaded()
      case .matrix: try MatrixSeal().loaded()
      case .unsealed: NoSeal()
      }
    } catch { throw Failure(.tryAgain, error.sentence) }
  }

  private func make(_ store: StoreSettings) throws -> any Store {
    let recipe = Recipe(settings: store, http: settings.http, secrets: try store.secrets.map { try $0.load() })
    let known = former.stores.first { $0.0 == recipe }?.1
    let result = try known ?? makeAnew(store)
    made.withLock { made in
      made.stores.append((recipe, result))
      if known == nil { made.anew.append("store \(store.name)") }
    }
    return result
  }

  private func make(_ network: NetworkSettings) throws -> any Network {
    let recipe = Recipe(
      settings: network.withoutListening, http: settings.http, secrets: try network.secrets.map { try $0.load() })
    let known = former.networks.first { $0.0 == recipe }?.1
    let result = try known ?? makeAnew(network)
    made.withLock { made in
      made.networks.append((recipe, result))
      if known == nil { made.anew.append("network \(network.name)") }
    }
    return result
  }

  private func makeAnew(_ store: StoreSettings) throws -> any Store {
    switch store.kind {
    case .directory(let directory):
      return try DirectoryStore(
        name: store.name, directory: directory.path ?? spool.objects.path, baseURL: directory.url,
        pool: pool(store.name))
    case .s3(let s3):
      let service = try S3Service(
        endpoint: s3.endpoint, region: s3.region, bucket: s3.bucket,
        addressing: s3.addressing == .path ? .path : .virtualHost)
      let read: @Sendable () throws -> S3Credentials = {
        S3Credentials(
          accessKey: try s3.accessKey.load().reveal(), secretKey: try s3.secretKey.load(),
          sessionToken: try s3.sessionToken?.load())
      }
      return S3Store(
        name: store.name, service, credentials: try read(), rereadCredentials: read,
        naming: try ObjectNaming(s3.naming), publicURL: s3.url, client: client, limits: limits)
    case .presigned(let presigned):
      return try PresignedStore(
        name: store.name, endpoint: presigned.endpoint, token: presigned.token?.load(),
        rereadToken: { try presigned.token?.load() }, client: client, limits: limits)
    case .matrix(let matrix):
      return try MatrixStore(
        name: store.name,
        MatrixAccount(homeserver: matrix.homeserver, token: Renewable(reading: matrix.token.load)), client: client,
        limits: limits)
    }
  }

  private func makeAnew(_ network: NetworkSettings) throws -> any Network {
    switch network.kind {
    case .local:
      return try LocalNetwork(name: network.name, directory: spool.published.path, pool: pool(network.name))
    case .matrix(let matrix):
      return try MatrixNetwork(
        name: network.name,
        MatrixAccount(homeserver: matrix.homeserver, token: Renewable(reading: matrix.token.load)),
        encryptedRooms: EncryptedRooms(in: spool.state), client: client, limits: limits)
    case .webhook(let webhook):
      let read: @Sendable () throws -> [Secret] = {
        try webhook.secret.load().reveal().split(separator: " ").map { Secret(String($0)) }
      }
      var options = WebhookOptions(url: webhook.url, secrets: try read())
      options.rereadSecrets = read
      options.allowsPrivateAddresses = webhook.allowsPrivate
      return try WebhookNetwork(name: network.name, options, client: client)
    case .exec(let exec):
      var options = ExecOptions(program: exec.program)
      options.timeLimit = exec.timeout.seconds
      return try ExecNetwork(name: network.name, options)
    case .xmtp(let xmtp):
      var options = XMTPNetwork.Options(
        program: xmtp.program ?? Programs.path(of: "photospool-xmtp.py"),
        state: spool.state.path(of: "xmtp-\(network.name)"), key: xmtp.keyFile, endpoint: xmtp.endpoint)
      options.usesTLS = !xmtp.isInsecure
      if let python = xmtp.python { options.python = python }
      return XMTPNetwork(name: network.name, options, log: log)
    }
  }
}
