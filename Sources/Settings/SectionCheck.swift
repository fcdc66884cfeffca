import Secrets

/// Looks into the section of one store or network: whether it has what its type needs, and nothing that its type does
/// not know.
struct SectionCheck {
  /// Of the section: `store`, `stores.archive`.
  let path: String
  /// `store` or `network`.
  let noun: String
  /// The type's word.
  let type: String
  let complaints: SettingsComplaints

  /// Tells of each setting that is for other types. One that is written at its default does no harm.
  func refuseOthers(_ rows: [Setting<Settings>]) {
    let settings = complaints.settings
    for row in rows where !row.types.isEmpty && !row.types.contains(type) {
      guard settings.origin(of: row.key) != .byDefault, row.text(in: settings) != row.defaultText else { continue }
      complaints.add(
        [row.key], "`\(row.key)` is for a \(noun) of type \(choice(row.types)), and `\(path)` is of type `\(type)`")
    }
  }

  /// The value, which has to be there.
  func need<Value>(_ name: String, _ value: Value?) -> Value? {
    let key = "\(path).\(name)"
    if value == nil, !complaints.rejected.contains(key) {
      complaints.add(["\(path).type", path], "`\(path)` is of type `\(type)`, which needs `\(name)`")
    }
    return value
  }

  /// Where a secret is: nil when nobody says so, or two do, which is told.
  func secret(_ name: String, file: String?, variable: String?) -> SecretSource? {
    if file != nil, variable != nil {
      complaints.add(
        ["\(path).\(name)Variable"],
        "`\(path).\(name)File` and `\(path).\(name)Variable` both say where the secret is; keep one of them")
      return nil
    }
    return file.map { .file($0) } ?? variable.map { .environment($0) }
  }

  /// Where a secret is that the type needs.
  func needSecret(_ name: String, file: String?, variable: String?) -> SecretSource? {
    let source = secret(name, file: file, variable: variable)
    let keys = ["\(path).\(name)File", "\(path).\(name)Variable"]
    if source == nil, file == nil, complaints.rejected.isDisjoint(with: keys) {
      complaints.add(
        ["\(path).type", path], "`\(path)` is of type `\(type)`, which needs `\(name)File` or `\(name)Variable`")
    }
    return source
  }
}

/// What does not fit together in the settings, each told where it was set.
final class SettingsComplaints {
  let settings: Settings
  /// Keys and sections of which something wrong was told already.
  let rejected: Set<String>
  private var found = [(origin: SettingOrigin, sentence: String)]()

  init(_ settings: Settings, rejected: Set<String>) {
    self.settings = settings
    self.rejected = rejected
  }

  /// Tells it where the first of `keys` was set that anybody did set.
  func add(_ keys: [String], _ sentence: String) {
    add(at: keys.map(settings.origin).first { $0 != .byDefault } ?? .byDefault, sentence)
  }

  func add(at origin: SettingOrigin, _ sentence: String) { found.append((origin, sentence)) }

  /// In the order of the file's lines, then the others.
  var problems: [SettingsProblem] {
    found.enumerated().sorted { ($0.element.origin.line, $0.offset) < ($1.element.origin.line, $1.offset) }
      .map { SettingsProblem(place: $0.element.origin.description, sentence: $0.element.sentence) }
  }
}

extension SettingOrigin {
  fileprivate var line: Int {
    if case .file(_, let line) = self { line } else { .max }
  }
}
