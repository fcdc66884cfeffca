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
}
