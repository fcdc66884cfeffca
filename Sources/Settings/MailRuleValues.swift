import Messages
import SettingKit
import Yams

/// The list `mail.accept` of a configuration file.
struct MailRuleValues {
  /// More are a mistake.
  static let most = 1000
  private static let keys = ["to", "conversation", "inbox", "from", "withoutPhoto"]
  private static let identifier = SettingKind<ConversationID>.identifier
  private static let withoutPhoto = SettingKind<Settings.Mail.WithoutPhoto>.word

  private(set) var rules = [MailRule]()
  private(set) var problems = [SettingsDocument.Problem]()
  private var lines = [Int]()

  init(_ node: Node, line: Int) {
    guard let list = node.sequence else {
      if !node.isNothing { complain(line, "`mail.accept` is a list; a rule begins with `- to: ADDRESS`") }
      return
    }
    if list.count > Self.most { complain(line, "`mail.accept` has more than \(Self.most) rules") }
    for item in list.prefix(Self.most) {
      let line = item.mark?.line ?? line
      guard let mapping = item.mapping else {
        complain(line, "a rule consists of `to`, `conversation` and perhaps `inbox`, `from` and `withoutPhoto`")
        continue
      }
      guard let rule = rule(mapping, line: line) else { continue }
      if let earlier = rules.firstIndex(where: { $0.covers(rule) }) {
        complain(line, "no mail comes to this rule; the one of line \(lines[earlier]) is earlier")
      }
      rules.append(rule)
      lines.append(line)
    }
  }

  private mutating func complain(_ line: Int, _ sentence: String) {
    problems.append(.init(line: line, sentence: sentence))
  }

  private mutating func rule(_ mapping: Node.Mapping, line: Int) -> MailRule? {
    let found = problems.count
    var (recipients, senders) = ([ConversationPattern](), [ConversationPattern]?.none)
    var (conversation, inbox, withoutPhoto) = ("", InboxID?.none, Settings.Mail.WithoutPhoto?.none)
    var seen = Set<String>()
    for (key, value) in mapping {
      let line = key.mark?.line ?? line
      let name = key.scalar?.string ?? ""
      seen.insert(name)
      switch name {
      case "to": recipients = patterns(value, "to", line: line)
      case "from": senders = patterns(value, "from", line: line)
      case "conversation":
        conversation =
          text(
            value, name, expects: "\(Self.identifier.expects); `{local}` stands for the address before + and @", line
          ) {
            Self.identifier.parse($0.replacing(MailRule.local, with: "a")) != nil
              && !$0.replacing(MailRule.local, with: "").contains { "{}".contains($0) }
          } ?? ""
      case "inbox":
        inbox = text(value, name, expects: Self.identifier.expects, line) { Self.identifier.parse($0) != nil }
          .flatMap { try? InboxID($0) }
      case "withoutPhoto":
        withoutPhoto = text(value, name, expects: Self.withoutPhoto.expects, line) {
          Self.withoutPhoto.parse($0) != nil
        }
        .flatMap(Self.withoutPhoto.parse)
      default:
        let meant = suggestion(for: name, among: Self.keys)
        if let meant { seen.insert(meant) }
        complain(line, "unknown key \(quoted(name)) in a rule" + (meant.map { "; did you mean `\($0)`?" } ?? ""))
      }
    }
    for key in ["to", "conversation"] where !seen.contains(key) { complain(line, "this rule has no `\(key)`") }
    guard problems.count == found else { return nil }
    return MailRule(
      inbox: inbox, withoutPhoto: withoutPhoto, conversation: conversation, recipients: recipients, senders: senders)
  }

  /// Addresses or patterns, which are compared without case.
  private mutating func patterns(_ node: Node, _ key: String, line: Int) -> [ConversationPattern] {
    if let list = node.sequence, list.isEmpty { complain(line, "`\(key)` is an empty list") }
    let names = node.sequence.map(Array.init) ?? [node]
    return names.compactMap { name in
      text(name, key, expects: "an address, or a pattern with `*` and `?`", name.mark?.line ?? line) {
        !$0.isEmpty && $0.utf8.count <= 320 && !$0.contains(where: \.isWhitespace)
      }
    }.map { ConversationPattern($0.lowercased()) }
  }

  private mutating func text(
    _ node: Node, _ key: String, expects: String, _ line: Int, check: (String) -> Bool
  ) -> String? {
    let text = node.scalar?.string ?? ""
    let complaint =
      node.complaint(for: key, expects: expects)
      ?? (check(text) ? nil : "`\(key)` is \(quoted(text)); it has to be \(expects)")
    guard let complaint else { return text }
    complain(line, complaint)
    return nil
  }
}
