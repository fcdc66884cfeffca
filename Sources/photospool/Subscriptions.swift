import HTTP
import Matrix
import Messages
import Networks
import Receiving
import Secrets
import Settings

/// What a listener was made of: its network, and which conversations come to it.
struct ListenerRecipe: Equatable, Sendable {
  let network: NetworkSettings
  let routes: [RouteSettings]
  let isStandard: Bool
}

extension Connections {
  /// Who is listened to. A listener that an earlier configuration had in the same way goes on.
  func subscriptions() throws -> [Subscription] {
    try settings.networks.compactMap { network -> Subscription? in
      guard let listening = network.listening else { return nil }
      return try naming("network \(network.name)") {
        try listener(network).map { Subscription(listener: $0, inbox: listening.inbox) }
      }
    }
  }

  private func listener(_ network: NetworkSettings) throws -> (any Listener)? {
    let recipe = Recipe(
      settings: ListenerRecipe(
        network: network, routes: settings.routes, isStandard: network.name == settings.networks.first?.name),
      http: settings.http, secrets: try network.secrets.map { try $0.load() })
    guard let result = try former.listeners.first(where: { $0.0 == recipe })?.1 ?? makeAnew(network, recipe) else {
      return nil
    }
    made.withLock { $0.listeners.append((recipe, result)) }
    return result
  }

  private func makeAnew(_ network: NetworkSettings, _ recipe: Recipe<ListenerRecipe>) throws -> (any Listener)? {
    switch network.kind {
    case .matrix(let matrix):
      return try MatrixListener(
        name: network.name,
        MatrixAccount(homeserver: matrix.homeserver, token: Renewable(reading: matrix.token.load)),
        conversations: settings.heardConversations(on: network), client: client, limits: limits
      ) { [log] line in log("\(network.name): \(line)") }
    case .xmtp:
      // It hears through the co-process that publishes.
      let found = made.withLock { made in made.networks.first { $0.1.name == network.name }?.1 }
      return (found as? XMTPNetwork).map {
        XMTPListener($0, conversations: settings.heardConversations(on: network))
      }
    case .local, .webhook, .exec: return nil
    }
  }
}

extension Settings {
  /// The routes to a network, read backwards.
  func heardConversations(on network: NetworkSettings) -> HeardConversations {
    let isStandard = network.name == networks.first?.name
    let own = routes.filter { $0.network == network.name }
    func isExact(_ name: String) -> Bool { !name.contains { "*?".contains($0) } }
    let named = own.flatMap { route in
      // An earlier route may take what a later one names.
      route.conversations.filter { isExact($0) && self.route(of: $0) == route }.map {
        HeardConversations.Named(address: route.alias ?? $0, conversation: ConversationID(unchecked: $0))
      }
    }
    let hasPatterns = own.contains { $0.alias == nil && !$0.conversations.allSatisfy(isExact) }
    guard isStandard || hasPatterns else { return HeardConversations(named: named) }
    return HeardConversations(named: named) { [self] conversation in
      guard let route = route(of: conversation.text) else { return isStandard }
      return route.network == network.name && route.alias == nil
    }
  }
}
