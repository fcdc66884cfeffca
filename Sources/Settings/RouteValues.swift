import Messages
import SettingKit
import Yams

/// The list `routes` of a configuration file, as written.
enum RouteValues {
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

  /// The entries. Adds what is wrong with them to `problems`.
  static func entries(_ node: Node, line: Int, _ problems: inout [SettingsDocument.Problem]) -> [Entry] {
    var entries = [Entry]()
    var reader = EntryReader("route", required: ["conversation", "network"], others: ["as"])
    for (mapping, line) in reader.entries(
      of: node, at: "routes", line: line, beginning: "conversation: NAME", most: most)
    {
      let found = reader.problems.count
      var entry = entry(mapping, line, &reader)
      entry.isRejected = reader.problems.count > found
      entries.append(entry)
    }
    problems += reader.problems
    return entries
  }

  private static func entry(_ mapping: Node.Mapping, _ line: Int, _ reader: inout EntryReader) -> Entry {
    var entry = Entry(line: line)
    for (key, value, line) in reader.values(of: mapping, line: line) {
      func written(_ text: String?) -> FileValues.Value? { text.map { FileValues.Value(text: $0, line: line) } }
      switch key {
      case "conversation":
        entry.conversations += reader.patterns(
          value, key, line, expects: "\(EntryReader.identifier.expects), or a pattern with `*` and `?`", isConversation)
      case "network":
        entry.network = written(
          reader.value(value, key, line, expects: "the name of a network") { $0.isEmpty ? nil : $0 })
      default:
        entry.alias = written(
          reader.value(
            value, key, line, expects: EntryReader.identifier.expects,
            advice: "; a name that begins with `#` belongs in quotation marks"
          ) { isConversation($0) ? $0 : nil })
      }
    }
    if let alias = entry.alias, let pattern = entry.conversations.first(where: \.isPattern) {
      reader.complain(
        alias.line,
        "`as` names one conversation, and \(quoted(pattern.text)) is a pattern; name the conversation or remove `as`")
    }
    return entry
  }

  private static func isConversation(_ text: String) -> Bool { EntryReader.identifier.parse(text) != nil }
}
