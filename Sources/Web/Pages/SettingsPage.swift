import Ledgers
import Messages
import Settings

extension PageSource {
  func settings(of conversation: ConversationID) throws -> Values {
    let preferences = try ledger?.preferences(of: conversation.text) ?? ConversationPreferences()
    let (isHeld, waiting) = try ledger?.state(of: conversation) ?? (false, 0)
    let (photos, bytes) = try ledger?.use(of: conversation, inbox: inbox) ?? (0, 0)
    let limit = settings.cache.inbox
    let percent = limit > 0 ? min(100, bytes * 100 / limit) : 100
    return try frame(current: conversation).merging([
      "conversation": shown(conversation.text), "nameQuery": inAddress(conversation.text), "isHeld": isHeld,
      "hasWaiting": waiting > 0, "waiting": waiting, "isAutoReveal": preferences.autoReveal ?? false,
      "fetchChoices": FetchPolicy.allCases.map { policy -> Values in
        [
          "value": policy.rawValue, "word": Self.word(policy),
          "isChosen": policy == preferences.fetch ?? settings.receiving.fetch,
        ]
      }, "hasUse": bytes > 0, "use": sizeInWords(bytes), "photos": "in \(photos) photos, \(percent) %",
      "limit": sizeInWords(limit), "usePercent": percent,
    ]) { $1 }.merging(destination(of: conversation)) { $1 }
  }

  /// Where messages of a conversation go, by the configuration.
  private func destination(of conversation: ConversationID) -> Values {
    let name = settings.route(of: conversation.text)?.network
    guard let network = settings.networks.first(where: { name == nil || $0.name == name }) else {
      return ["network": "", "store": "", "seal": "", "sealSentence": ""]
    }
    let sentence = network.privacy
    return [
      "network": network.name, "store": network.store, "seal": network.seal.rawValue,
      "sealSentence": sentence.prefix(1).uppercased() + sentence.dropFirst() + ".",
    ]
  }

  private static func word(_ policy: FetchPolicy) -> String {
    switch policy {
    case .always: "Always"
    case .known: "When something was sent or revealed here"
    case .ask: "Only when I tap Fetch"
    }
  }
}
