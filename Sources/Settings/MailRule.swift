import Messages

/// Where mails to some addresses go: an entry of `mail.accept`.
package struct MailRule: Sendable, Hashable {
  /// The inbox of the requests; nil means the default one.
  package let inbox: InboxID?
  /// nil means `mail.withoutPhoto`.
  package let withoutPhoto: Settings.Mail.WithoutPhoto?
  /// A conversation, perhaps with `{local}` in it.
  package let conversation: String
  let recipients: [ConversationPattern]
  /// The addresses in `From`; nil means all. They sort mails and prove nothing.
  let senders: [ConversationPattern]?

  /// In a conversation, the part of the address before `+` and `@`.
  static let local = "{local}"

  package func matches(_ address: String, from sender: String) -> Bool {
    let (address, sender) = (address.lowercased(), sender.lowercased())
    return recipients.contains { $0.matches(address) } && senders?.contains { $0.matches(sender) } ?? true
  }

  /// The conversation of a mail to `address`; nil if the address gives none.
  package func conversation(for address: String) -> ConversationID? {
    let mailbox = address.lastIndex(of: "@").map { address[..<$0] } ?? address[...]
    let local = mailbox.prefix { $0 != "+" }.lowercased()
    return try? ConversationID(conversation.replacing(Self.local, with: local))
  }

  /// Whether no mail comes to `other` after this rule.
  func covers(_ other: MailRule) -> Bool {
    senders == nil && other.recipients.allSatisfy { address in recipients.contains { $0.covers(address) } }
  }
}

extension Settings {
  /// The first rule for an address, if any knows it.
  package func mailRule(for address: String, from sender: String) -> MailRule? {
    mailRules.first { $0.matches(address, from: sender) }
  }
}
