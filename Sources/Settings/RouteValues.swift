import Messages
import SettingKit
import Yams

/// The list `routes` of a configuration file, as written.
struct RouteValues {
  struct Entry {
    let line: Int
    var conversations = [ConversationPattern]()
    var network: FileValues.Value?
    var alias: FileValues.Value?
    /// An error in it was reported.
    var isRejected = false
  }

  /// More are a mistake.
  static let most = 1000
  private static let keys = ["conversation", "network", "as"]
  private static let conversation = SettingKind<ConversationID>.identifier

  private(set) var entries = [Entry]()
  private(set) var problems = [SettingsDocument.Problem]()

  init(_ node: Node, line: Int) {
    guard let list = node.sequence else {
      if !node.isNothing { complain(line, "`routes` is a list; a route begins with `- conversation: NAME`") }
      return
    }
    if list.count > Self.most { complain(line, "`routes` has more than \(Self.most) routes") }
    for item in list.prefix(Self.most) {
      let line = item.mark?.line ?? line
      guard let mapping = item.mapping else {
        complain(line, "a route consists of `conversation`, `network` and perhaps `as`")
        continue
      }
      let found = problems.count
      var entry = entry(mapping, line: line)
      entry.isRejected = problems.count > found
      entries.append(entry)
    }
  }

  private mutating func complain(_ line: Int, _ sentence: String) {
    problems.append(.init(line: line, sentence: sentence))
  }

  private mutating func entry(_ mapping: Node.Mapping, line: Int) -> Entry {
    var entry = Entry(line: line)
    var seen = Set<String>()
    for (key, value) in mapping {
      let line = key.mark?.line ?? line
      guard let name = key.scalar?.string else {
        complain(line, "a key has to be one word")
        continue
      }
      seen.insert(name)
      switch name {
      case "conversation": entry.conversations += conversations(value, line: line)
      case "network":
        entry.network = text(value, "network", expects: "the name of a network", line: line) { !$0.isEmpty }
      case "as":
        entry.alias = text(value, "as", expects: Self.conversation.expects, line: line, check: isConversation)
      default:
        let meant = suggestion(for: name, among: Self.keys)
        // A misspelt key is not also missing.
        if let meant { seen.insert(meant) }
        complain(
          line, "unknown key \(quoted(name)) in a route" + (meant.map { "; did you mean `\($0)`?" } ?? ""))
      }
    }
    for key in ["conversation", "network"] where !seen.contains(key) {
      complain(line, "this route has no `\(key)`")
    }
    if entry.alias != nil, let pattern = entry.conversations.first(where: \.isPattern) {
      complain(
        entry.alias?.line ?? line,
        "`as` names one conversation, and \(quoted(pattern.text)) is a pattern; name the conversation or remove `as`")
    }
    return entry
  }

  private func isConversation(_ text: String) -> Bool { Self.conversation.parse(text) != nil }

  private mutating func conversations(_ node: Node, line: Int) -> [ConversationPattern] {
    if let list = node.sequence, list.isEmpty { complain(line, "`conversation` is an empty list") }
    let names = node.sequence.map(Array.init) ?? [node]
    return names.compactMap { name in
      text(
        name, "conversation", expects: "\(Self.conversation.expects), or a pattern with `*` and `?`",
        line: name.mark?.line ?? line, check: isConversation)
    }.map { ConversationPattern($0.text) }
  }

  private mutating func text(
    _ node: Node, _ key: String, expects: String, line: Int, check: (String) -> Bool
  ) -> FileValues.Value? {
    if let complaint = node.complaint(for: key, expects: expects) {
      let advice = node.isNothing && key == "as" ? "; a name that begins with `#` belongs in quotation marks" : ""
      complain(line, complaint + advice)
      return nil
    }
    let text = node.scalar?.string ?? ""
    if check(text) { return FileValues.Value(text: text, line: line) }
    complain(line, "`\(key)` is \(quoted(text)); it has to be \(expects)")
    return nil
  }
}
