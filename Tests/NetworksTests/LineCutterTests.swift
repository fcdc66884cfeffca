import Messages
import Testing

@testable import Networks

@Suite struct LineCutterTests {
  private func cut(_ pieces: [String], limit: Int = 4) -> [LineCutter.Line] {
    var cutter = LineCutter(limit: limit)
    return pieces.flatMap { cutter.add(Array($0.utf8)[...]) }
  }

  private func whole(_ text: String) -> LineCutter.Line { .whole(Array(text.utf8)) }
  private func tooLong(_ text: String) -> LineCutter.Line { .tooLong(Array(text.utf8)) }

  @Test("Lines are the same however the bytes come in")
  func pieces() {
    for size in 1...9 {
      let bytes = Array("a\n\nbcde\nf".utf8)
      var cutter = LineCutter(limit: 4)
      let lines = stride(from: 0, to: bytes.count, by: size)
        .flatMap { cutter.add(bytes[$0..<min($0 + size, bytes.count)]) }
      #expect(lines == [whole("a"), whole(""), whole("bcde")])
    }
  }

  @Test("A line is reported once as soon as it is too long, and the next one is whole")
  func long() {
    #expect(cut(["abcd"]) == [])
    #expect(cut(["abcde"]) == [tooLong("abcd")])
    #expect(cut(["abc", "def", "ghi", "jk\nlm\n"]) == [tooLong("abcd"), whole("lm")])
    #expect(cut(["abcdefgh\nabcdefgh\n\n"]) == [tooLong("abcd"), tooLong("abcd"), whole("")])
  }

  @Test("Control characters and invalid UTF-8 are written as numbers")
  func foreign() {
    #expect(escaped("a\u{1b}[0m\n\u{202e}\u{feff}é📷") == "a\\u{1b}[0m\\u{a}\\u{202e}\\u{feff}é📷")
    #expect(escaped("a\u{fffd}b", limit: 3) == "a\u{fffd}b")
    #expect(escaped(String(repeating: "x", count: 9), limit: 4) == "xxxx…")
  }
}
