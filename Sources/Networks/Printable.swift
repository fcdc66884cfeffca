/// Text of another program for a log or an error: one line of limited length without terminal controls.
func printable(_ bytes: some Sequence<UInt8>, limit: Int = 500) -> String {
  printable(String(decoding: Array(bytes.prefix(4 * limit)), as: UTF8.self), limit: limit)
}

/// - Parameter limit: in characters, before escaping.
func printable(_ text: String, limit: Int = 500) -> String {
  var line = String.UnicodeScalarView()
  let scalars = text.unicodeScalars
  for scalar in scalars.prefix(limit) {
    switch scalar.properties.generalCategory {
    case .control, .format, .lineSeparator, .paragraphSeparator, .privateUse, .unassigned:
      line.append(contentsOf: "\\u{\(String(scalar.value, radix: 16))}".unicodeScalars)
    default: line.append(scalar)
    }
  }
  return String(line) + (scalars.dropFirst(limit).isEmpty ? "" : "…")
}
