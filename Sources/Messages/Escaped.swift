extension Unicode.Scalar {
  /// Whether it could move a cursor or hide a character.
  package var isUnseen: Bool {
    switch properties.generalCategory {
    case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .privateUse, .unassigned: true
    default: false
    }
  }
}

/// `text` with everything escaped that could move a cursor or hide a character.
package func escaped(_ text: String) -> String {
  // The usual case. Looking up the category of each character costs more than the rest of a log line.
  if text.utf8.allSatisfy({ (0x20...0x7E).contains($0) }) { return text }
  return text.unicodeScalars.map { $0.isUnseen ? "\\u{\(String($0.value, radix: 16))}" : String($0) }.joined()
}

/// The first `limit` characters of another program's text, escaped, and an ellipsis if there are more.
package func escaped(_ text: String, limit: Int) -> String {
  let scalars = text.unicodeScalars
  return escaped(String(scalars.prefix(limit))) + (scalars.dropFirst(limit).isEmpty ? "" : "…")
}

package func hasControlCharacter(_ text: String) -> Bool {
  text.unicodeScalars.contains { $0.properties.generalCategory == .control }
}
