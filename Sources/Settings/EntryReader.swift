import Messages
import SettingKit
import Yams

/// Reads the entries of a list in a configuration file, such as `routes`, and collects what is wrong with them.
struct EntryReader {
  /// The word for an entry in sentences: `route`.
  private let noun: String
  private let required: [String]
  private let others: [String]
  private(set) var problems = [SettingsDocument.Problem]()

  /// The rule for a conversation or an inbox.
  static let identifier = SettingKind<ConversationID>.identifier

  /// - Parameter others: the keys that an entry may lack.
  init(_ noun: String, required: [String], others: [String]) {
    (self.noun, self.required, self.others) = (noun, required, others)
  }

  mutating func complain(_ line: Int, _ sentence: String) {
    problems.append(.init(line: line, sentence: sentence))
  }

  /// The entries, each with its line.
  ///
  /// - Parameters:
  ///   - beginning: how an entry begins, for the sentence about something else than a list.
  ///   - most: more entries are a mistake, and are not read.
  mutating func entries(
    of node: Node, at path: String, line: Int, beginning: String, most: Int
  ) -> [(mapping: Node.Mapping, line: Int)] {
    guard let list = node.sequence else {
      if !node.isNothing { complain(line, "`\(path)` is a list; a \(noun) begins with `- \(beginning)`") }
      return []
    }
    if list.count > most { complain(line, "`\(path)` has more than \(most) \(noun)s") }
    var entries = [(mapping: Node.Mapping, line: Int)]()
    for item in list.prefix(most) {
      let line = item.mark?.line ?? line
      if let mapping = item.mapping {
        entries.append((mapping, line))
      } else {
        complain(
          line,
          "a \(noun) consists of \(choice(required, beforeLast: ", ")) and perhaps \(choice(others, beforeLast: " and "))"
        )
      }
    }
    return entries
  }

  /// The known keys of an entry with their values and lines.
  mutating func values(of mapping: Node.Mapping, line: Int) -> [(key: String, value: Node, line: Int)] {
    var values = [(key: String, value: Node, line: Int)]()
    var seen = Set<String>()
    for (key, value) in mapping {
      let line = key.mark?.line ?? line
      guard let name = key.scalar?.string else {
        complain(line, "a key has to be one word")
        continue
      }
      seen.insert(name)
      if (required + others).contains(name) {
        values.append((name, value, line))
        continue
      }
      let meant = suggestion(for: name, among: required + others)
      // A misspelt key is not also missing.
      if let meant { seen.insert(meant) }
      complain(line, "unknown key \(quoted(name)) in a \(noun)" + (meant.map { "; did you mean `\($0)`?" } ?? ""))
    }
    for key in required where !seen.contains(key) { complain(line, "this \(noun) has no `\(key)`") }
    return values
  }

  /// The value of a key, which is a word or a text.
  ///
  /// - Parameters:
  ///   - expects: what it has to be, for sentences.
  ///   - advice: for a value that is missing.
  mutating func value<Value>(
    _ node: Node, _ key: String, _ line: Int, expects: String, advice: String = "", _ parse: (String) -> Value?
  ) -> Value? {
    let text = node.scalar?.string ?? ""
    if let complaint = node.complaint(for: key, expects: expects) {
      complain(line, complaint + (node.isNothing ? advice : ""))
    } else if let value = parse(text) {
      return value
    } else {
      complain(line, "`\(key)` is \(quoted(text)); it has to be \(expects)")
    }
    return nil
  }

  mutating func value<Value>(_ node: Node, _ key: String, _ line: Int, _ kind: SettingKind<Value>) -> Value? {
    value(node, key, line, expects: kind.expects, kind.parse)
  }

  /// A conversation, perhaps with some of `places` in it and no other braces; empty if it is invalid.
  ///
  /// - Parameter hint: the meaning of the places, after the rule for a conversation.
  mutating func conversation(_ node: Node, _ key: String, _ line: Int, places: [String], hint: String) -> String {
    value(node, key, line, expects: Self.identifier.expects + hint) { text in
      let plain = places.reduce(text) { $0.replacing($1, with: "a") }
      return (try? ConversationID(plain)) != nil && !plain.contains { "{}".contains($0) } ? text : nil
    } ?? ""
  }

  /// Names or patterns: one, or a list.
  mutating func patterns(
    _ node: Node, _ key: String, _ line: Int, expects: String, _ accepts: (String) -> Bool
  ) -> [ConversationPattern] {
    if let list = node.sequence, list.isEmpty { complain(line, "`\(key)` is an empty list") }
    var patterns = [ConversationPattern]()
    for name in node.sequence.map(Array.init) ?? [node] {
      let pattern = value(name, key, name.mark?.line ?? line, expects: expects) { accepts($0) ? $0 : nil }
      if let pattern { patterns.append(ConversationPattern(pattern)) }
    }
    return patterns
  }
}
