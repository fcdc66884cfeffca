import Messages
import SettingKit
import Yams

/// The list `mail.accept` of a configuration file.
enum MailRuleValues {
  /// More are a mistake.
  static let most = 1000

  /// The valid rules. Adds what is wrong with the others to `problems`.
  static func rules(_ node: Node, line: Int, _ problems: inout [SettingsDocument.Problem]) -> [MailRule] {
    var reader = EntryReader("rule", required: ["to", "conversation"], others: ["inbox", "from", "withoutPhoto"])
    var (rules, lines) = ([MailRule](), [Int]())
    for (mapping, line) in reader.entries(
      of: node, at: "mail.accept", line: line, beginning: "to: ADDRESS", most: most)
    {
      guard let rule = rule(mapping, line, &reader) else { continue }
      if let earlier = rules.firstIndex(where: { $0.covers(rule) }) {
        reader.complain(line, "no mail comes to this rule; the one of line \(lines[earlier]) is earlier")
      }
      rules.append(rule)
      lines.append(line)
    }
    problems += reader.problems
    return rules
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
        conversation = reader.conversation(
          value, key, line, places: [MailRule.local], hint: "; `{local}` stands for the address before + and @")
      case "inbox": inbox = reader.value(value, key, line, expects: EntryReader.identifier.expects) { try? InboxID($0) }
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
