import SettingKit
import Yams

/// A configuration file as a tree of YAML nodes, with its syntax errors.
struct SettingsDocument {
  struct Problem {
    /// From 1; nil without a line.
    let line: Int?
    let sentence: String
  }

  /// nil for an empty or unreadable file.
  private(set) var root: Node?
  private(set) var problems = [Problem]()

  init(_ text: String) {
    problems = Self.anchors(in: text)
    if !problems.isEmpty { return }
    do {
      // Tags are not needed, and the regular expressions of the default rules take a MiB of memory.
      root = try compose(yaml: text, .basic)
    } catch let error as YamlError {
      problems = Self.problems(of: error, in: text)
    } catch {
      problems = [Problem(line: nil, sentence: "this is not YAML: \(error)")]
    }
  }

  /// Refuses anchors before parsing, because a few lines of aliases can mean billions of nodes. That includes quoted
  /// texts such as `"Tom &Jerry"`.
  private static func anchors(in text: String) -> [Problem] {
    splitLines(text).enumerated().compactMap { index, line in
      if line.drop(while: \.isWhitespace).hasPrefix("#") { return nil }
      for place in line.indices where line[place] == "&" {
        let before = place == line.startIndex ? " " : line[line.index(before: place)]
        let name = line[line.index(after: place)...].prefix { !$0.isWhitespace && !",[]{}".contains($0) }
        if name.isEmpty || before.isLetter || before.isNumber || "_-.~%/=+&".contains(before) { continue }
        return Problem(
          line: index + 1, sentence: "\(quoted("&" + name)) is an anchor; this file may not use anchors and aliases")
      }
      return nil
    }
  }

  /// Yams reports the line of the first key; the second follows with the same indentation.
  private static func repeated(_ key: String, from first: Mark, in text: String) -> Problem {
    let lines = splitLines(text).enumerated().dropFirst(first.line).map { index, line in
      (number: index + 1, depth: line.prefix { $0 == " " }.count + 1, content: line.drop { $0 == " " })
    }
    let section = lines.filter { !$0.content.isEmpty && !$0.content.hasPrefix("#") }
      .prefix { $0.depth >= first.column }
    let second = section.first {
      $0.depth == first.column && $0.content.prefix { $0 != ":" }.filter { !" \"'".contains($0) } == key
    }
    guard let second else { return Problem(line: first.line, sentence: "\(quoted(key)) is set more than once") }
    return Problem(
      line: second.number, sentence: "\(quoted(key)) is set again; line \(first.line) has it already")
  }

  /// The errors of libyaml in plain words.
  private static func problems(of error: YamlError, in text: String) -> [Problem] {
    switch error {
    case .scanner(let context, let problem, let mark, _), .parser(let context, let problem, let mark, _),
      .composer(let context, let problem, let mark, _):
      let tabs = indentedByTabs(text)
      if !tabs.isEmpty { return tabs }
      if let advice = Self.advice.first(where: { problem.contains($0.said) }) {
        let line = advice.isAboutBeginning ? context?.mark.line : nil
        return [Problem(line: line ?? mark.line, sentence: advice.sentence)]
      }
      let beginning =
        context.flatMap { $0.mark.line == mark.line ? nil : " (\($0.text) of line \($0.mark.line))" } ?? ""
      let line = splitLines(text).dropFirst(mark.line - 1).first ?? ""
      let advice =
        line.contains(/[:-] +[\[{]/) ? "; a text that begins with `{` or `[` belongs in quotation marks" : ""
      return [Problem(line: mark.line, sentence: "this is not YAML: \(problem)\(beginning)\(advice)")]
    case .reader(_, let offset, let value, _):
      let line = offset.map { splitLines(String(text.prefix($0 + 1))).count }
      let digits = String(max(value, 0), radix: 16, uppercase: true)
      let code = "U+" + String(repeating: "0", count: max(0, 4 - digits.count)) + digits
      return [Problem(line: line, sentence: "the character \(code) cannot stand in this file")]
    case .duplicatedKeysInMapping(let keys, let context):
      return [repeated(keys.first ?? "", from: context.mark, in: text)]
    default:
      return [Problem(line: nil, sentence: "this is not YAML: \(error)")]
    }
  }

  /// The frequent errors of libyaml, and their meaning.
  private static let advice: [(said: String, sentence: String, isAboutBeginning: Bool)] = [
    ("unexpected end of stream", "the quotation marks that begin here are never closed", true),
    ("cannot start any token", "a value cannot begin like this; put it in quotation marks", false),
    ("alphabetic or numeric", "a value cannot begin with `*`; put it in quotation marks", false),
    ("undefined alias", "a value cannot begin with `*`; put it in quotation marks", false),
    ("mapping values are not allowed", "a colon too many, or the line is indented too far", false),
    ("found another document", "a second document begins here; a configuration is only one", false),
    ("Maximum nesting level", "the sections and lists lie too deep in one another", false),
  ]

  private static func indentedByTabs(_ text: String) -> [Problem] {
    splitLines(text).enumerated().compactMap { index, line in
      guard line.prefix(while: \.isWhitespace).contains("\t"), line.contains(where: { !$0.isWhitespace })
      else { return nil }
      return Problem(line: index + 1, sentence: "a tab indents this line; use spaces")
    }
  }
}

/// Lines as libyaml counts them.
func splitLines(_ text: String) -> [Substring] {
  text.split(omittingEmptySubsequences: false) { ["\n", "\r", "\r\n", "\u{85}", "\u{2028}", "\u{2029}"].contains($0) }
}
