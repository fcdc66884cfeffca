import Messages
import Networks
import Settings

extension Settings {
  func heardConversations(on network: NetworkSettings) -> HeardConversations {
    let isStandard = network.name == networks.first?.name
    let own = routes.filter { $0.network == network.name }
    let named = own.flatMap { route in
      // An earlier route may take them.
      route.exactConversations.filter { self.route(of: $0) == route }.map { name in
        (address: route.alias ?? Address(unchecked: name), conversation: ConversationID(unchecked: name))
      }
    }
    let hasPatterns = own.contains { $0.alias == nil && $0.exactConversations != $0.conversations }
    guard isStandard || hasPatterns else { return HeardConversations(named: named) }
    return HeardConversations(named: named) { [self] conversation in
      guard let route = route(of: conversation.text) else { return isStandard }
      return route.network == network.name && route.alias == nil
    }
  }
}
