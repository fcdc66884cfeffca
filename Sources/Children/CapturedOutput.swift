import Messages

/// The beginning and the end of a program's output, in constant memory.
package struct CapturedOutput: Sendable {
  private var head = [UInt8]()
  private var tail = [UInt8]()

  /// Bytes kept at each end.
  private static let kept = 4096
  /// Bytes of a line that are shown.
  private static let shown = 255

  package init() {}

  package mutating func add(_ piece: some Collection<UInt8>) {
    if head.count < Self.kept { head += piece.prefix(Self.kept - head.count) }
    tail += piece.suffix(Self.kept)
    if tail.count > Self.kept { tail.removeFirst(tail.count - Self.kept) }
  }

  /// nil if it is missing or blank.
  package var firstLine: String? { Self.lines(of: head).first.flatMap(Self.shown) }
  package var lastLine: String? { Self.lines(of: tail).reversed().lazy.compactMap(Self.shown).first }

  private static func lines(of bytes: [UInt8]) -> [String] {
    String(decoding: bytes, as: UTF8.self).split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
      .map(String.init)
  }

  private static func shown(_ line: String) -> String? {
    let text = plain(line)
    return text.isEmpty ? nil : text
  }

  /// `text` without surrounding blanks and terminal controls, cut to `shown`.
  package static func plain(_ text: String) -> String {
    let words = escaped(text).drop { $0 == " " }
    var cut = words.prefix(shown)
    while cut.utf8.count > shown { cut.removeLast() }
    while cut.last == " " { cut.removeLast() }
    return String(cut)
  }
}
