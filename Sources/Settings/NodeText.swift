import Messages
import Yams

extension Node {
  /// Whether it is empty or one of YAML's words for null.
  var isNothing: Bool {
    guard let scalar, scalar.style == .plain || scalar.style == .any, !isTagged else { return false }
    return ["", "~", "null", "Null", "NULL"].contains(scalar.string)
  }

  /// Why the node is not a text for `key`, if so.
  func complaint(for key: String, expects: String) -> String? {
    if isTagged { return "a value cannot begin with `!`; put it in quotation marks" }
    switch self {
    case .scalar: return isNothing ? "`\(key)` has no value; give it one or remove the line" : nil
    case .mapping(let mapping):
      let advice = mapping.style == .flow ? "; a text that begins with `{` belongs in quotation marks" : ""
      return "`\(key)` is a setting and not a section; it has to be \(expects)\(advice)"
    case .sequence: return "`\(key)` is a list; it has to be \(expects)"
    case .alias: return "`\(key)` is an alias; it has to be \(expects)"
    }
  }

  /// Whether a tag `!word` precedes it, such as an unquoted Matrix room id.
  private var isTagged: Bool {
    guard let name = scalar?.tag.rawValue else { return false }
    return name.hasPrefix("!") && name != "!"
  }

  /// The node as JSON, with members in the order of the file: unquoted words are what they are in JSON. nil if it is deep or
  /// has tags, or a key that is no word.
  func json(depth: Int = 0) -> String? {
    guard depth < Self.deepest, !isTagged else { return nil }
    switch self {
    case .scalar(let scalar):
      let isPlain = scalar.style == .plain || scalar.style == .any
      if isNothing { return "null" }
      if isPlain, scalar.string.wholeMatch(of: /true|false|-?(0|[1-9][0-9]*)(\.[0-9]+)?/) != nil {
        return scalar.string
      }
      return Self.json(scalar.string)
    case .mapping(let mapping):
      var members: [String] = []
      for (key, value) in mapping {
        guard let name = key.scalar.flatMap({ Self.json($0.string) }), let text = value.json(depth: depth + 1)
        else { return nil }
        members.append("\(name):\(text)")
      }
      return "{\(members.joined(separator: ","))}"
    case .sequence(let sequence):
      let elements = sequence.map { $0.json(depth: depth + 1) }
      return elements.contains(nil) ? nil : "[\(elements.compactMap(\.self).joined(separator: ","))]"
    case .alias: return nil
    }
  }

  private static var deepest: Int { 20 }

  private static func json(_ text: String) -> String? {
    (try? Messages.json(text)).map { String(decoding: $0, as: UTF8.self) }
  }
}
