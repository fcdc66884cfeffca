import Messages
import Networks
import Settings

extension Settings {
  func heardConversations(on network: NetworkSettings) -> HeardConversations {
    let isStandard = network.name == networks.first?.name
    let own = routes.filter { $0.network == network.name }
    func isExact(_ name: String) -> Bool { !name.contains { "*?".contains($0) } }
    let named = own.flatMap { route in
      // An earlier route may take them.
      route.conversations.filter { isExact($0) && self.route(of: $0) == route }.map { name in
        (address: route.alias ?? Address(unchecked: name), conversation: ConversationID(unchecked: name))
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
