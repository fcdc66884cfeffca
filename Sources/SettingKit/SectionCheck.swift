import Secrets

/// Checks that the section of a store or network has what its type needs.
package struct SectionCheck {
  /// The path of the section: `store`, `stores.archive`.
  package let path: String
  /// `store` or `network`.
  package let noun: String
  /// The type's word.
  package let type: String
  /// Whether it is the standard store or network.
  package let isStandard: Bool
  package let complaints: SettingsComplaints

  package init(path: String, noun: String, type: String, isStandard: Bool, complaints: SettingsComplaints) {
    self.path = path
    self.noun = noun
    self.type = type
    self.isStandard = isStandard
    self.complaints = complaints
  }

  /// Requires a value.
  package func need<Value>(_ name: String, _ value: Value?) -> Value? {
    let key = "\(path).\(name)"
    if value == nil, !complaints.rejected.contains(key) {
      complaints.add(["\(path).type", path], "`\(path)` is of type `\(type)`, which needs `\(name)`")
    }
    return value
  }

  /// The place of a secret; nil without one, or with two, which is reported.
  package func secret(_ name: String, _ setting: SecretSetting) -> SecretSource? {
    if setting.file != nil, setting.variable != nil {
      complain(
        about: "\(name)Variable",
        "`\(path).\(name)File` and `\(path).\(name)Variable` both say where the secret is; keep one of them")
      return nil
    }
    return setting.file.map { .file($0) } ?? setting.variable.map { .environment($0) }
  }

  /// Requires the place of a secret.
  package func needSecret(_ name: String, _ setting: SecretSetting) -> SecretSource? {
    let source = secret(name, setting)
    let keys = ["\(path).\(name)File", "\(path).\(name)Variable"]
    if source == nil, setting.file == nil, complaints.rejected.isDisjoint(with: keys) {
      complaints.add(
        ["\(path).type", path], "`\(path)` is of type `\(type)`, which needs `\(name)File` or `\(name)Variable`")
    }
    return source
  }

  /// A URL without its final slash, to which paths are added; nil, with a report, if it has a query.
  package func base(_ name: String, _ url: String?) -> String? {
    guard let url else { return nil }
    if WebAddress(url)?.hasQuery == true {
      complain(about: name, "`\(path).\(name)` has a `?`, and paths are added to it; remove that part")
      return nil
    }
    return url.hasSuffix("/") ? String(url.dropLast()) : url
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
