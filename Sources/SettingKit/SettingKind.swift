import Messages

/// How one kind of value is written, read and shown.
package struct SettingKind<Value: Sendable & Equatable>: Sendable {
  /// The rule for values, after "it has to be".
  package let expects: String
  /// All values, if they are a short list.
  package let words: [String]
  /// The value of a text; nil if it is invalid.
  package let parse: @Sendable (String) -> Value?
  /// The text of a value, the reverse of `parse`.
  package let show: @Sendable (Value) -> String
  package let isFile: Bool
  /// Whether the file may have a map in place of a text, which is parsed as its JSON.
  package let isMap: Bool
  /// Whether an invalid text is hidden, because people put secrets there by mistake.
  package let hides: @Sendable (String) -> Bool

  package init(
    expects: String, words: [String] = [], isFile: Bool = false, isMap: Bool = false,
    hides: @escaping @Sendable (String) -> Bool = { _ in false }, parse: @escaping @Sendable (String) -> Value?,
    show: @escaping @Sendable (Value) -> String
  ) {
    self.expects = expects
    self.words = words
    self.isFile = isFile
    self.isMap = isMap
    self.hides = hides
    self.parse = parse
    self.show = show
  }
}

extension SettingKind where Value == String {
  /// A text that is kept as written.
  package init(
    expects: String, isFile: Bool = false, hides: @escaping @Sendable (String) -> Bool = { _ in false },
    accepts: @escaping @Sendable (String) -> Bool
  ) {
    self.init(expects: expects, isFile: isFile, hides: hides, parse: { accepts($0) ? $0 : nil }, show: \.self)
  }

  /// One of some words.
  package static func word(_ words: [String]) -> Self {
    Self(expects: choice(words), words: words, parse: { words.contains($0) ? $0 : nil }, show: { $0 })
  }

  /// The same or an empty text.
  package static func orEmpty(_ kind: Self) -> Self {
    Self(
      expects: kind.expects + ", or empty", words: kind.words, isFile: kind.isFile, hides: kind.hides,
      parse: { $0.isEmpty ? $0 : kind.parse($0) }, show: \.self)
  }

  package static var directory: Self {
    Self(
      expects: "the path of a directory, without control characters",
      accepts: { !$0.isEmpty && !hasControlCharacter($0) })
  }

  /// A user of this computer.
  package static var user: Self {
    Self(
      expects: "the name of a user of this computer",
      accepts: { !$0.isEmpty && !hasControlCharacter($0) && !$0.contains(":") })
  }

  /// The URL that objects are found below.
  package static var baseURL: Self {
    Self(expects: "a URL such as `https://photos.example.org/objects`", accepts: isURL)
  }
}

extension SettingKind where Value == [String] {
  /// Texts with commas between them, each of which `accepts` takes; empty is none.
  package static func list(expects: String, accepts: @escaping @Sendable (String) -> Bool) -> Self {
    Self(
      expects: expects,
      parse: { text in
        if text.isEmpty { return [] }
        let parts = text.split(separator: ",", omittingEmptySubsequences: false)
        let all = parts.map { part in String(part.drop { $0 == " " }.prefix { $0 != " " }) }
        guard all.joined(separator: ",") == text.filter({ $0 != " " }), all.allSatisfy(accepts) else { return nil }
        return all
      },
      show: { $0.joined(separator: ", ") })
  }
}

extension SettingKind where Value == Int {
  /// A whole number of `unit`, in the plural.
  package static func count(_ range: ClosedRange<Int>, of unit: String? = nil) -> Self {
    let noun = unit.map { "a whole number of \($0)" } ?? "a whole number"
    return Self(
      expects: "\(noun) from \(range.lowerBound) to \(range.upperBound)",
      parse: { text in Int(text).flatMap { range.contains($0) ? $0 : nil } },
      show: String.init)
  }

  /// A size in bytes, as in `SizeText`.
  package static func bytes(_ range: ClosedRange<Int>) -> Self {
    Self(
      expects: "a size from \(sentenceSize(range.lowerBound)) to \(sentenceSize(range.upperBound)), "
        + "such as `250000`, `500kB` or `10 MB`",
      parse: { text in SizeText.parse(text).flatMap { range.contains($0) ? $0 : nil } },
      show: SizeText.show)
  }
}

extension SettingKind where Value == Duration {
  /// A duration, as in `DurationText`.
  package static func duration(_ range: ClosedRange<Duration>) -> Self {
    Self(
      expects: "a duration from \(DurationText.show(range.lowerBound)) to \(DurationText.show(range.upperBound)), "
        + "such as `30s`, `5m`, `12h` or `5d`",
      parse: { text in DurationText.parse(text).flatMap { range.contains($0) ? $0 : nil } },
      show: DurationText.show)
  }
}

extension SettingKind where Value: RawRepresentable & CaseIterable, Value.RawValue == String {
  package static var word: Self {
    let words = Value.allCases.map(\.rawValue)
    return Self(expects: choice(words), words: words, parse: Value.init, show: \.rawValue)
  }
}

extension SettingKind where Value == Bool {
  /// `true` or `false`, and no other word of YAML.
  package static var flag: Self {
    Self(
      expects: "`true` or `false`", words: ["true", "false"],
      parse: { ["true": true, "false": false][$0] }, show: { $0 ? "true" : "false" })
  }
}

extension SettingKind where Value: Identifier {
  /// An inbox or a conversation.
  package static var identifier: Self {
    Self(
      expects: "the name of one \(Value.noun): 1 to \(longestIdentifier) bytes without control characters",
      parse: { try? Value($0) }, show: \.text)
  }
}

extension SettingKind {
  /// The same or nothing, which is an empty text.
  package static func optional<Wrapped>(_ kind: SettingKind<Wrapped>) -> Self where Value == Wrapped? {
    Self(
      expects: kind.expects + ", or empty", words: kind.words, isFile: kind.isFile, hides: kind.hides,
      parse: { $0.isEmpty ? .some(nil) : kind.parse($0).map { .some($0) } },
      show: { $0.map(kind.show) ?? "" })
  }
}

/// Words for a sentence: "`a`, `b` or `c`", or with other words before the last.
package func choice(_ words: [String], beforeLast: String = " or ") -> String {
  let quoted = words.map { "`\($0)`" }
  return quoted.count < 2
    ? quoted.joined() : quoted.dropLast().joined(separator: ", ") + beforeLast + (quoted.last ?? "")
}

private func sentenceSize(_ bytes: Int) -> String {
  let text = SizeText.show(bytes)
  return text.last?.isNumber == true ? "\(text) bytes" : text
}

/// Whether it is a scheme, `://`, and more characters without blanks.
private func isURL(_ text: String) -> Bool {
  guard let end = text.firstRange(of: "://") else { return false }
  let scheme = text[..<end.lowerBound]
  let isScheme = scheme.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "+-.".contains($0)) }
  return scheme.first?.isLetter == true && isScheme && end.upperBound < text.endIndex
    && !hasControlCharacter(text) && !text.contains(where: \.isWhitespace)
}
