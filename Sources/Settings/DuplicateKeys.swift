import Yams

/// Finds the keys that a section has twice.
///
/// Yams refuses a whole file at the first of them. So that the others, and all else that is wrong, are told as well, a
/// repeated key is renamed in the text, told, and the text composed again.
struct DuplicateKeys {
  /// A file with more of them is given up, because each costs another reading; a large file sooner.
  static let limit = 20
  private let limit: Int

  private var lines: [String]
  private(set) var problems = [SettingsDocument.Problem]()
  /// The name in the file, by the name in `text`.
  private(set) var renamed = [String: String]()

  init(_ text: String) {
    lines = splitLines(text).map(String.init)
    limit = min(Self.limit, (4 << 20) / max(1, text.utf8.count))
  }

  /// The file, the repeated keys renamed.
  var text: String { lines.joined(separator: "\n") }

  /// Tells of each further `key` of the section in which `first` is the position of the first one, and renames it.
  ///
  /// - Returns: whether composing the text again can bring something new.
  mutating func setAside(_ key: String, from first: Mark) -> Bool {
    let written = renamed[key] ?? key
    let indentation = first.column - 1
    var found = 0
    for index in lines.indices.dropFirst(first.line) where problems.count <= limit {
      let line = lines[index]
      let content = line.drop { $0 == " " }
      if content.isEmpty || content.hasPrefix("#") { continue }
      let depth = line.count - content.count
      if depth < indentation { break }
      guard depth == indentation, let name = Self.spelling(of: key, in: content) else { continue }
      found += 1
      problems.append(
        .init(line: index + 1, sentence: "\(quoted(written)) is set again; line \(first.line) has it already"))
      let addition = "\u{E000}\(problems.count)"
      renamed[key + addition] = written
      let end = name.hasSuffix(key) ? name.count : name.count - 1
      lines[index] = line.prefix(depth) + name.prefix(end) + addition + content.dropFirst(end)
    }
    if found == 0 {
      problems.append(.init(line: first.line, sentence: "\(quoted(written)) is set more than once"))
    }
    return found > 0 && problems.count <= limit
  }

  /// How the key at the beginning of `content` is written, if it is `key`: as it is or in quotation marks.
  private static func spelling(of key: String, in content: Substring) -> String? {
    [key, "\"\(key)\"", "'\(key)'"].first { spelling in
      content.hasPrefix(spelling) && content.dropFirst(spelling.count).drop { $0 == " " }.first == ":"
    }
  }
}
