import SettingKit
import Yams

/// Settings from a file by key, and their errors.
struct FileValues {
  struct Value {
    let text: String
    let line: Int
  }

  struct Section {
    let family: SectionFamily
    let name: String
    let line: Int
  }

  private(set) var values = [String: Value]()
  /// `stores.NAME` and `networks.NAME`.
  private(set) var sections = [Section]()
  private(set) var routes = [RouteValues.Entry]()
  private(set) var mailRules = [MailRule]()
  private(set) var watchedFolders = [WatchedFolder]()
  /// Keys and sections with errors.
  private(set) var rejected = Set<String>()
  /// Whether the file was read completely, so that missing keys are known to be missing.
  var isComplete: Bool { root != nil || found.isEmpty }
  private var found = [SettingsDocument.Problem]()
  private let path: String
  private let root: Node?

  /// - Parameter isExplicit: whether a missing file is an error.
  init(path: String, isExplicit: Bool) throws(SettingsProblem) {
    let text = try SettingsFile.read(path)
    if text == nil, isExplicit { throw SettingsProblem(place: path, sentence: "there is no such file") }
    self.init(text: text ?? "", path: path)
  }

  init(text: String, path: String) {
    self.path = path
    let document = SettingsDocument(text)
    found = document.problems
    root = document.root
    guard let root else { return }
    if let mapping = root.mapping {
      walk(mapping, section: "", rows: SettingsSchema.settings)
    } else if !root.isNothing {
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

  private mutating func walk(_ mapping: Node.Mapping, section: String, rows: [Setting<Settings>]) {
    let isNamed = SectionFamily.allCases.contains { section.hasPrefix("\($0.rawValue).") }
    let names =
      isNamed ? SettingsSchema.names(of: rows, below: section) : SettingsSchema.names(below: section)
    for (key, value) in mapping {
      let line = key.mark?.line ?? 1
      guard let name = key.scalar?.string else {
        complain(line, "a key has to be one word")
        continue
      }
      let path = section.isEmpty ? name : "\(section).\(name)"
      if name.contains(".") || !names.contains(name) {
        complain(line, unknown(name, section: section, names: names))
      } else if let setting = rows.first(where: { $0.key == path }) {
        take(value, for: setting, line: line)
      } else if path == "routes" {
        routes += RouteValues.entries(value, line: line, &found)
      } else if path == "watch" {
        watchedFolders += WatchedFolderValues.folders(value, line: line, &found)
      } else if path == "mail.accept" {
        mailRules += MailRuleValues.rules(value, line: line, &found)
      } else if let inner = value.mapping {
        if let family = SectionFamily(rawValue: path) {
          walk(inner, family)
        } else {
          walk(inner, section: path, rows: rows)
        }
      } else if !value.isNothing {
        let colon = value.scalar?.string.contains(":") == true ? "; is a blank missing after the colon?" : ""
        let inside = SectionFamily(rawValue: path).map { "each \($0.noun) goes" } ?? "its settings go"
        complain(line, "`\(path)` is a section; \(inside) below it, indented\(colon)")
        rejected.insert(path)
      }
    }
  }

  private mutating func walk(_ mapping: Node.Mapping, _ family: SectionFamily) {
    for (key, value) in mapping.prefix(SectionFamily.most) {
      let line = key.mark?.line ?? 1
      guard let name = key.scalar?.string else {
        complain(line, "a key has to be one word")
        continue
      }
      let path = "\(family.rawValue).\(name)"
      if !isSectionName(name) {
        complain(line, "no \(family.noun) can be called \(quoted(name)); it has to be \(sectionNameRule)")
        rejected.insert(path)
        continue
      }
      sections.append(Section(family: family, name: name, line: line))
      if let inner = value.mapping {
        walk(inner, section: path, rows: family.rows(name))
      } else if !value.isNothing {
        complain(line, "`\(path)` is a section; its settings go below it, indented")
        rejected.insert(path)
      }
    }
    if mapping.count > SectionFamily.most {
      complain(
        mapping.mark?.line ?? 1, "`\(family.rawValue)` has more than \(SectionFamily.most) \(family.rawValue)")
    }
  }

  private mutating func take(_ node: Node, for setting: Setting<Settings>, line: Int) {
    if setting.isMap, node.mapping != nil { return takeMap(node, for: setting, line: line) }
    let text = node.scalar?.string ?? ""
    if let complaint = node.complaint(for: setting.key, expects: setting.expects) ?? setting.complaint(about: text) {
      complain(line, complaint)
      rejected.insert(setting.key)
    } else {
      values[setting.key] = Value(text: text, line: line)
    }
  }

  private mutating func takeMap(_ node: Node, for setting: Setting<Settings>, line: Int) {
    if let text = node.json(), setting.complaint(about: text) == nil {
      values[setting.key] = Value(text: text, line: line)
    } else {
      complain(line, "`\(setting.key)` has to be \(setting.expects)")
      rejected.insert(setting.key)
    }
  }

  private mutating func unknown(_ name: String, section: String, names: [String]) -> String {
    let place = section.isEmpty ? "" : " in `\(section)`"
    let beginning = "unknown key \(quoted(name))\(place)"
    func path(_ sibling: String) -> String { section.isEmpty ? sibling : "\(section).\(sibling)" }
    if name.contains("."), SettingsSchema.setting(name) != nil {
      let words = name.split(separator: ".")
      return "\(beginning); write `\(words.last ?? "")` below `\(words.dropLast().joined(separator: "` below `"))`"
    }
    let hasVariable = names.contains("\(name)Variable")
    if hasVariable || names.contains("\(name)File") && name == "key" {
      rejected.insert(path("\(name)File"))
      let variable = hasVariable ? " or its variable with `\(name)Variable`" : ""
      return "\(beginning); a secret is not written here: name its file with `\(name)File`\(variable)"
    }
    if let sibling = suggestion(for: name, among: names) {
      // A misspelt key is not also missing.
      rejected.insert(path(sibling))
      return "\(beginning); did you mean `\(sibling)`?"
    }
    let elsewhere = SettingsSchema.settings.map(\.key).filter { $0.hasSuffix(".\(name)") }
    if let key = elsewhere.first, elsewhere.count == 1 { return "\(beginning); did you mean `\(key)`?" }
    return beginning
  }
}
