/// One row of the schema: a key, what may be written for it, and the property that it sets.
public struct Setting: Sendable {
  /// The path in the file with dots: `photo.longestSide`.
  public let key: String
  /// What a value has to be, as the end of "it has to be …".
  public let expects: String
  /// One line for people.
  public let help: String

  /// All that can be written, where that is a short list.
  let words: [String]
  private let assignValue: @Sendable (String, inout Settings) -> Bool
  private let textOfValue: @Sendable (Settings) -> String

  init<Value>(
    _ key: String, _ property: WritableKeyPath<Settings, Value> & Sendable, _ kind: SettingKind<Value>, _ help: String
  ) {
    self.key = key
    self.help = help
    expects = kind.expects
    words = kind.words
    assignValue = { text, settings in
      guard let value = kind.parse(text) else { return false }
      settings[keyPath: property] = value
      return true
    }
    textOfValue = { kind.show($0[keyPath: property]) }
  }

  /// The default, as it would be written in the file.
  public var defaultText: String { text(in: Settings()) }

  /// The value that `settings` has for the key, as it would be written in the file.
  public func text(in settings: Settings) -> String { textOfValue(settings) }

  /// Sets the property; false, and nothing changed, when the text is no such value.
  func assign(_ text: String, in settings: inout Settings) -> Bool { assignValue(text, &settings) }

  /// Why `text` is no value for this key; nil when it is one.
  func complaint(about text: String) -> String? {
    var scratch = Settings()
    if assign(text, in: &scratch) { return nil }
    let meant = suggestion(for: text, among: words).map { "; did you mean `\($0)`?" } ?? ""
    return "`\(key)` is \(quoted(text)); it has to be \(expects)\(meant)"
  }
}
