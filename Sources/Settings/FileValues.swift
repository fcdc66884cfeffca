import Yams

/// What a configuration file sets, by key, and all that is wrong with it.
struct FileValues {
  struct Value {
    let text: String
    let line: Int
  }

  private(set) var values = [String: Value]()
  /// Keys that the file sets wrongly.
  private(set) var rejected = Set<String>()
  private var found = [SettingsDocument.Problem]()
  private let path: String
  private let renamed: [String: String]

  /// - Parameter isExplicit: whether a missing file is a problem.
  init(path: String, isExplicit: Bool) throws(SettingsProblem) {
    let text = try SettingsFile.read(path)
    if text == nil, isExplicit { throw SettingsProblem(place: path, sentence: "there is no such file") }
    self.init(text: text ?? "", path: path)
  }

  init(text: String, path: String) {
    self.path = path
    let document = SettingsDocument(text)
    found = document.problems
    renamed = document.renamed
    guard let root = document.root else { return }
    if let mapping = root.mapping {
      walk(mapping, section: "")
    } else if !isNothing(root) {
      complain(root.mark?.line ?? 1, "a configuration consists of lines such as `inbox: default`")
    }
  }

  /// In the order of the lines.
  var problems: [SettingsProblem] {
    found.enumerated()
      .sorted { ($0.element.line ?? 0, $0.offset) < ($1.element.line ?? 0, $1.offset) }
      .map { SettingsProblem(place: $0.element.line.map { "\(path):\($0)" } ?? path, sentence: $0.element.sentence) }
  }

  private mutating func complain(_ line: Int, _ sentence: String) {
    found.append(.init(line: line, sentence: sentence))
  }

  private mutating func walk(_ mapping: Node.Mapping, section: String) {
    let names = SettingsSchema.names(below: section)
    for (key, value) in mapping {
      let line = key.mark?.line ?? 1
      guard let written = key.scalar?.string else {
        complain(line, "a key has to be one word")
        continue
      }
      let name = renamed[written] ?? written
      let path = section.isEmpty ? name : "\(section).\(name)"
      if name.contains(".") || !names.contains(name) {
        complain(line, unknown(name, section: section))
      } else if let setting = SettingsSchema.setting(path) {
        // A repeated key is checked like the others, and sets nothing.
        take(value, for: setting, line: line, isRepeated: name != written)
      } else if let inner = value.mapping {
        walk(inner, section: path)
      } else if !isNothing(value) {
        let colon = value.scalar?.string.contains(":") == true ? "; is a blank missing after the colon?" : ""
        complain(line, "`\(path)` is a section; its settings go below it, indented\(colon)")
      }
    }
  }

  private mutating func take(_ node: Node, for setting: Setting, line: Int, isRepeated: Bool) {
    if let complaint = complaint(about: node, for: setting) {
      complain(line, complaint)
      rejected.insert(setting.key)
    } else if isRepeated {
      rejected.insert(setting.key)
    } else if let text = node.scalar?.string {
      values[setting.key] = Value(text: text, line: line)
    }
  }

  private func complaint(about node: Node, for setting: Setting) -> String? {
    switch node {
    case .scalar(let scalar):
      isNothing(node)
        ? "`\(setting.key)` has no value; give it one or remove the line" : setting.complaint(about: scalar.string)
    case .mapping: "`\(setting.key)` is a setting and not a section; it has to be \(setting.expects)"
    case .sequence: "`\(setting.key)` is a list; it has to be \(setting.expects)"
    case .alias: "`\(setting.key)` is an alias; it has to be \(setting.expects)"
    }
  }

  /// Whether nothing, or one of YAML's words for nothing, stands there.
  private func isNothing(_ node: Node) -> Bool {
    guard let scalar = node.scalar, scalar.style == .plain || scalar.style == .any else { return false }
    return ["", "~", "null", "Null", "NULL"].contains(scalar.string)
  }

  private func unknown(_ name: String, section: String) -> String {
    let place = section.isEmpty ? "" : " in `\(section)`"
    let beginning = "unknown key \(quoted(name))\(place)"
    if name.contains("."), SettingsSchema.setting(name) != nil {
      let words = name.split(separator: ".")
      return "\(beginning); write `\(words.last ?? "")` below `\(words.dropLast().joined(separator: "` below `"))`"
    }
    if let sibling = suggestion(for: name, among: SettingsSchema.names(below: section)) {
      return "\(beginning); did you mean `\(sibling)`?"
    }
    let elsewhere = SettingsSchema.settings.map(\.key).filter { $0.hasSuffix(".\(name)") }
    if let key = elsewhere.first, elsewhere.count == 1 { return "\(beginning); did you mean `\(key)`?" }
    return beginning
  }
}
