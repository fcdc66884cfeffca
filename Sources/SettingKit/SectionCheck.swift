/// Checks that the section of a store or network has what its type needs.
package struct SectionCheck {
  /// The path of the section: `store`, `stores.archive`.
  package let path: String
  /// The type's word.
  package let type: String
  /// Whether it is the standard store or network.
  package let isStandard: Bool
  package let complaints: SettingsComplaints

  package init(path: String, type: String, isStandard: Bool, complaints: SettingsComplaints) {
    self.path = path
    self.type = type
    self.isStandard = isStandard
    self.complaints = complaints
  }

  /// Whether a value is set; otherwise reports that it is needed.
  package func has(_ name: String, _ value: String) -> Bool {
    if value.isEmpty, !complaints.rejected.contains("\(path).\(name)") {
      complaints.add(["\(path).type", path], "`\(path)` is of type `\(type)`, which needs `\(name)`")
    }
    return !value.isEmpty
  }

  /// Whether a secret has at most one place; otherwise reports that.
  package func isClear(_ name: String, _ secret: SecretSetting) -> Bool {
    guard secret.file != nil, secret.variable != nil else { return true }
    complain(
      about: "\(name)Variable",
      "`\(path).\(name)File` and `\(path).\(name)Variable` both say where the secret is; keep one of them")
    return false
  }

  /// Whether a secret has one place; otherwise reports that it is needed.
  package func has(_ name: String, _ secret: SecretSetting) -> Bool {
    let keys = ["\(path).\(name)File", "\(path).\(name)Variable"]
    if secret.source == nil, complaints.rejected.isDisjoint(with: keys) {
      complaints.add(
        ["\(path).type", path], "`\(path)` is of type `\(type)`, which needs `\(name)File` or `\(name)Variable`")
    }
    return isClear(name, secret) && secret.source != nil
  }

  /// Whether a URL is set to which paths can be added; otherwise reports why not.
  package func hasBase(_ name: String, _ url: String) -> Bool {
    guard has(name, url) else { return false }
    if WebAddress(url)?.hasQuery != true { return true }
    complain(about: name, "`\(path).\(name)` has a `?`, and paths are added to it; remove that part")
    return false
  }

  /// Reports an error in the setting `name` of the section.
  package func complain(about name: String, _ sentence: String) { complaints.add(["\(path).\(name)"], sentence) }
}

/// Settings that contradict each other, each reported where it was set.
package final class SettingsComplaints {
  /// Keys and sections with an error that was already reported.
  package let rejected: Set<String>
  private let origin: (String) -> SettingOrigin
  private var found = [(origin: SettingOrigin, sentence: String)]()

  /// - Parameter origin: the origin of a key's value.
  package init(rejected: Set<String>, origin: @escaping (String) -> SettingOrigin) {
    self.rejected = rejected
    self.origin = origin
  }

  /// Reports a sentence at the first of `keys` that was set.
  package func add(_ keys: [String], _ sentence: String) {
    add(at: keys.map(origin).first { $0 != .byDefault } ?? .byDefault, sentence)
  }

  package func add(at origin: SettingOrigin, _ sentence: String) { found.append((origin, sentence)) }

  /// In the order of the file's lines, then the others.
  package var problems: [SettingsProblem] {
    found.enumerated().sorted { ($0.element.origin.line, $0.offset) < ($1.element.origin.line, $1.offset) }
      .map { SettingsProblem(place: $0.element.origin.description, sentence: $0.element.sentence) }
  }
}

extension SettingOrigin {
  fileprivate var line: Int {
    if case .file(_, let line) = self { line } else { .max }
  }
}
