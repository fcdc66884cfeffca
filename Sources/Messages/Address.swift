/// A conversation's name on its network: `as` of its route, else its own name. `NetworkType.address` is its form. A profile
/// photo that belongs to no conversation has the name of its inbox's profile conversation.
package struct Address: Identifier {
  package static let noun = "conversation"
  package let text: String
  package init(unchecked text: String) { self.text = text }
}

extension ConversationID {
  /// Its address without a route that has `as`.
  package var address: Address { Address(unchecked: text) }
}

/// A conversation on a network.
package struct Recipient: RawRepresentable, Hashable, Sendable {
  /// The network's name in the configuration.
  package let network: String
  package let address: Address

  package init(network: String, address: Address) {
    self.network = network
    self.address = address
  }

  /// As the ledger keeps it: `NETWORK ADDRESS`. No network's name has a blank.
  package var rawValue: String { "\(network) \(address.text)" }

  package init?(rawValue text: String) {
    guard let blank = text.firstIndex(of: " ") else { return nil }
    self.init(
      network: String(text[..<blank]), address: Address(unchecked: String(text[text.index(after: blank)...])))
  }
}
