import Messages
import SettingKit
import Yams

/// The list `mail.accept` of a configuration file.
struct MailRuleValues {
  /// More are a mistake.
  static let most = 1000
  private static let identifier = SettingKind<ConversationID>.identifier

  private(set) var rules = [MailRule]()
  let problems: [SettingsDocument.Problem]

  init(_ node: Node, line: Int) {
    var reader = EntryReader("rule", required: ["to", "conversation"], others: ["inbox", "from", "withoutPhoto"])
    var lines = [Int]()
    for (mapping, line) in reader.entries(
      of: node, at: "mail.accept", line: line, beginning: "to: ADDRESS", most: Self.most)
    {
      guard let rule = Self.rule(mapping, line, &reader) else { continue }
      if let earlier = rules.firstIndex(where: { $0.covers(rule) }) {
        reader.complain(line, "no mail comes to this rule; the one of line \(lines[earlier]) is earlier")
      }
      rules.append(rule)
      lines.append(line)
    }
    problems = reader.problems
  }

  private static func rule(_ mapping: Node.Mapping, _ line: Int, _ reader: inout EntryReader) -> MailRule? {
    let found = reader.problems.count
    var (recipients, senders) = ([ConversationPattern](), [ConversationPattern]?.none)
    var (conversation, inbox, withoutPhoto) = ("", InboxID?.none, Settings.Mail.WithoutPhoto?.none)
    for (key, value, line) in reader.values(of: mapping, line: line) {
      switch key {
      case "to": recipients = patterns(value, key, line, &reader)
      case "from": senders = patterns(value, key, line, &reader)
      case "conversation":
        let expects = "\(identifier.expects); `{local}` stands for the address before + and @"
        conversation =
          reader.value(value, key, line, expects: expects) { MailRule.isConversation($0) ? $0 : nil } ?? ""
      case "inbox": inbox = reader.value(value, key, line, expects: identifier.expects) { try? InboxID($0) }
      default: withoutPhoto = reader.value(value, key, line, .word)
      }
    }
    guard reader.problems.count == found else { return nil }
    return MailRule(
      inbox: inbox, withoutPhoto: withoutPhoto, conversation: conversation, recipients: recipients, senders: senders)
  }

  /// Addresses or patterns, which are compared without case.
  private static func patterns(
    _ node: Node, _ key: String, _ line: Int, _ reader: inout EntryReader
  ) -> [ConversationPattern] {
    reader.patterns(node, key, line, expects: "an address, or a pattern with `*` and `?`") {
      !$0.isEmpty && $0.utf8.count <= 320 && !$0.contains(where: \.isWhitespace)
    }.map { ConversationPattern($0.text.lowercased()) }
  }
}
