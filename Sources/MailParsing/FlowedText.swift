/// Text with soft ends of lines (RFC 3676).
enum FlowedText {
  /// Joins the lines of each paragraph.
  ///
  /// - Parameter losesBlanks: whether the blank at a soft end is no part of the text.
  static func joined(_ text: String, losesBlanks: Bool) -> String {
    var lines: [String] = []
    /// The depth of the quotation that goes on in the next line.
    var open: Int?
    for line in text.replacing("\r\n", with: "\n").split(separator: "\n", omittingEmptySubsequences: false) {
      let depth = line.prefix { $0 == ">" }.count
      var rest = line.dropFirst(depth)
      // A blank is put before lines that begin with one, or with `>` or `From `.
      if rest.first == " " { rest.removeFirst() }
      // The line above a signature ends in a blank, and is no soft one.
      let isSoft = rest.last == " " && rest != "-- "
      if isSoft, losesBlanks { rest.removeLast() }
      if open == depth, rest != "-- " {
        lines[lines.count - 1] += rest
      } else {
        lines.append(depth > 0 ? "\(line.prefix(depth)) \(rest)" : String(rest))
      }
      open = isSoft ? depth : nil
    }
    return lines.joined(separator: "\n")
  }
}
