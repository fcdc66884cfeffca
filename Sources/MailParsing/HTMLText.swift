/// The text of a page, in one pass. Nothing is fetched.
enum HTMLText {
  private static let hidden: Set = ["script", "style", "head", "title"]
  private static let breaks: Set = ["br", "p", "div", "li", "tr", "h1", "h2", "h3", "h4", "h5", "h6"]
  private static let entities = [
    "amp": "&", "lt": "<", "gt": ">", "quot": "\"", "apos": "'", "nbsp": " ", "auml": "ä", "ouml": "ö", "uuml": "ü",
    "Auml": "Ä", "Ouml": "Ö", "Uuml": "Ü", "szlig": "ß", "eacute": "é", "egrave": "è", "agrave": "à", "ccedil": "ç",
    "euro": "€", "deg": "°", "copy": "©", "reg": "®", "hellip": "…", "ndash": "–", "mdash": "—", "lsquo": "‘",
    "rsquo": "’", "ldquo": "“", "rdquo": "”", "bull": "•", "middot": "·",
  ]

  static func text(of page: String) -> String {
    let scalars = Array(page.unicodeScalars)
    var (lines, line) = ([String](), String.UnicodeScalarView())
    var isAfterBlank = true
    /// The tag whose contents are not shown.
    var hiddenBy: String?
    var index = 0
    func endLine() {
      lines.append(String(line).trimmingBlanks)
      (line, isAfterBlank) = (String.UnicodeScalarView(), true)
    }
    func add(_ scalar: Unicode.Scalar) {
      let isBlank = scalar.properties.isWhitespace
      if !isBlank { line.append(scalar) } else if !isAfterBlank { line.append(" ") }
      isAfterBlank = isBlank
    }
    while index < scalars.count {
      let scalar = scalars[index]
      if scalar == "<", let tag = tag(in: scalars, at: index) {
        index = tag.end
        if let name = hiddenBy {
          // The end of a head may be left out.
          let isOver = tag.isEnd ? tag.name == name : name == "head" && tag.name == "body"
          if isOver { hiddenBy = nil }
        } else if !tag.isEnd, hidden.contains(tag.name) {
          hiddenBy = tag.name
        } else if breaks.contains(tag.name) {
          endLine()
        }
        continue
      }
      index += 1
      if hiddenBy != nil { continue }
      if scalar == "&", let entity = entity(in: scalars, at: index) {
        for scalar in entity.text.unicodeScalars { add(scalar) }
        index = entity.end
      } else {
        add(scalar)
      }
    }
    endLine()
    // Several empty lines are one.
    return lines.enumerated().filter { $0.offset == 0 || !$0.element.isEmpty || !lines[$0.offset - 1].isEmpty }
      .map(\.element).joined(separator: "\n")
  }

  /// The tag or comment at a `<`.
  private static func tag(
    in scalars: [Unicode.Scalar], at start: Int
  ) -> (name: String, isEnd: Bool, end: Int)? {
    var index = start + 1
    guard index < scalars.count else { return nil }
    if scalars[index...].prefix(3).elementsEqual("!--".unicodeScalars) {
      index += 3
      while index < scalars.count, !scalars[index...].prefix(3).elementsEqual("-->".unicodeScalars) { index += 1 }
      return ("!", false, min(scalars.count, index + 3))
    }
    let isEnd = scalars[index] == "/"
    if isEnd { index += 1 }
    guard index < scalars.count, scalars[index].properties.isAlphabetic || scalars[index] == "!" else { return nil }
    let name = scalars[index...].prefix(16).prefix { $0.isASCII && ($0.properties.isAlphabetic || ("0"..."9") ~= $0) }
    var quote: Unicode.Scalar?
    while index < scalars.count {
      let scalar = scalars[index]
      index += 1
      if let mark = quote {
        if scalar == mark { quote = nil }
      } else if scalar == ">" {
        break
      } else if scalar == "\"" || scalar == "'" {
        quote = scalar
      }
    }
    return (String(String.UnicodeScalarView(name)).lowercased(), isEnd, index)
  }

  /// The entity after a `&`.
  private static func entity(in scalars: [Unicode.Scalar], at start: Int) -> (text: String, end: Int)? {
    let name = scalars[start...].prefix(12).prefix { $0 != ";" }
    let end = start + name.count
    guard end < scalars.count, scalars[end] == ";" else { return nil }
    let word = String(String.UnicodeScalarView(name))
    if let text = entities[word] { return (text, end + 1) }
    guard word.hasPrefix("#") else { return nil }
    let digits = word.dropFirst()
    let code = digits.lowercased().hasPrefix("x") ? UInt32(digits.dropFirst(), radix: 16) : UInt32(digits)
    return code.flatMap(Unicode.Scalar.init).map { (String(Character($0)), end + 1) }
  }
}

extension String {
  var trimmingBlanks: String {
    let rest = drop(while: \.isWhitespace)
    guard let last = rest.lastIndex(where: { !$0.isWhitespace }) else { return "" }
    return String(rest[...last])
  }
}
