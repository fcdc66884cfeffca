/// A row of the schema: a key, its kind, and the property of `Target` that it sets. A section's rows are declared once,
/// and used `below` each place that has the section.
package struct Setting<Target: Sendable>: Sendable {
  /// The path in the file with dots: `photo.longestSide`.
  package let key: String
  /// The rule for values, after "it has to be".
  package let expects: String
  /// One line for people.
  package let help: String

  /// All values, if they are a short list.
  package let words: [String]
  /// The types of store or network that it applies to; empty means all.
  package let types: [String]
  /// A path of a file; relative ones start in the configuration file's directory.
  package let isFile: Bool
  /// The file may have a map in place of a text, which is assigned as its JSON.
  package let isMap: Bool
  private let hides: @Sendable (String) -> Bool
  private let assignValue: @Sendable (String, inout Target) -> Bool
  private let textOfValue: @Sendable (Target) -> String
  private let makeTarget: @Sendable () -> Target

  package var defaultText: String { text(in: makeTarget()) }

  package func text(in target: Target) -> String { textOfValue(target) }

  /// Sets the property; false, without a change, if the text is invalid.
  package func assign(_ text: String, in target: inout Target) -> Bool { assignValue(text, &target) }

  /// Why `text` is invalid for this key, if so.
  package func complaint(about text: String) -> String? {
    var scratch = makeTarget()
    if assign(text, in: &scratch) { return nil }
    if hides(text) { return "`\(key)` has to be \(expects); what it is now may be a secret and is not shown" }
    let meant = suggestion(for: text, among: words).map { "; did you mean `\($0)`?" } ?? ""
    return "`\(key)` is \(quoted(text)); it has to be \(expects)\(meant)"
  }
}

/// The values of one section of the file, initially at their defaults.
package protocol SettingsSection: Sendable, Equatable {
  init()
  /// Its settings, with keys relative to the section. The help of a row documents its property.
  static var rows: [Setting<Self>] { get }
}

extension Setting where Target: SettingsSection {
  /// - Parameter types: the types of store or network that the setting applies to; nil means all.
  package init<Value>(
    _ key: String, _ property: WritableKeyPath<Target, Value> & Sendable, _ kind: SettingKind<Value>,
    _ help: String, for types: [String] = []
  ) {
    self.key = key
    self.help = help
    self.types = types
    expects = kind.expects
    words = kind.words
    isFile = kind.isFile
    isMap = kind.isMap
    hides = kind.hides
    assignValue = { text, target in
      guard let value = kind.parse(text) else { return false }
      target[keyPath: property] = value
      return true
    }
    textOfValue = { kind.show($0[keyPath: property]) }
    makeTarget = { Target() }
  }

  /// The same row in a larger whole with these values at `property`.
  ///
  /// - Parameter section: the path of the values in the file; "" if they have no section.
  package func below<Whole: SettingsSection>(
    _ section: String, _ property: WritableKeyPath<Whole, Target> & Sendable
  ) -> Setting<Whole> {
    below(section, for: types, get: { $0[keyPath: property] }, set: { $0[keyPath: property] = $1 })
  }

  /// The same row in a larger whole.
  ///
  /// - Parameters:
  ///   - types: the types of store or network that it applies to there; empty means all.
  ///   - get: reads this row's values from the whole.
  ///   - set: writes them.
  package func below<Whole: SettingsSection>(
    _ section: String, for types: [String], get: @escaping @Sendable (Whole) -> Target,
    set: @escaping @Sendable (inout Whole, Target) -> Void
  ) -> Setting<Whole> {
    Setting<Whole>(
      key: section.isEmpty ? key : "\(section).\(key)", expects: expects, help: help, words: words, types: types,
      isFile: isFile, isMap: isMap, hides: hides,
      assignValue: { text, whole in
        var part = get(whole)
        guard assign(text, in: &part) else { return false }
        set(&whole, part)
        return true
      }, textOfValue: { text(in: get($0)) }, makeTarget: { Whole() })
  }

  /// This row combined with one of the same key and kind for other types: a text sets both.
  package func joined(with other: Setting) -> Setting {
    Setting(
      key: key, expects: expects, help: help, words: words, types: types + other.types, isFile: isFile,
      isMap: isMap, hides: hides,
      assignValue: { text, target in
        var changed = target
        guard assign(text, in: &changed), other.assign(text, in: &changed) else { return false }
        target = changed
        return true
      }, textOfValue: textOfValue, makeTarget: makeTarget)
  }
}
