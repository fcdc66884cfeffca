import Messages
import Testing

@testable import Web

@Suite struct WordsTests {
  @Test("Control characters become visible, and line breaks and directions stay")
  func unseen() {
    #expect(shown("a\u{7}b\nc\u{202E}d\u{200B}") == "a\\u{7}b\nc\u{202E}d\\u{200b}")
    for text in ["ünï <b>&\"", "👩‍👩‍👧 🏴󠁧󠁢󠁥󠁮󠁧󠁿 ☀️"] { #expect(shown(text) == text) }
  }

  @Test(
    "A mark that joins a markup character is parted from it, so that a template escapes that",
    arguments: ["<", ">", "&", "\"", "'"])
  func combining(markup: String) throws {
    let text = shown("\(markup)\u{301} x=")
    #expect(text == "\(markup)\u{200B}\u{301} x=")
    let values: Values = ["status": 1, "heading": "", "sentence": text, "hasCommand": false, "hasBack": false]
    let response = try Templates().page("problem", title: text, values)
    #expect(response.status == .ok)
    #expect(try !rendered(text).contains("\(markup)\u{200B}"))
  }

  private func rendered(_ text: String) throws -> String {
    try Templates().text(
      of: "problem", ["status": 1, "heading": text, "sentence": "", "hasCommand": false, "hasBack": false])
  }

  @Test(
    "A text comes back from an address byte for byte",
    arguments: ["", "a b+c&d=e%/", "\u{FEFF}family", "e\u{301}", "\0\n"])
  func backFromAddress(text: String) {
    let back = formFields("name=\(inAddress(text))")["name"]
    #expect(back.map { Array($0.utf8) } == Array(text.utf8))
  }

  @Test("A malformed part of an address is none", arguments: ["%", "%4", "%zz", "%+1", "%FF", "a%C3"])
  func malformed(text: String) { #expect(String(percentEncoded: text) == nil) }

  @Test("A name in an address keeps only unreserved characters")
  func addresses() {
    #expect(inAddress("a-Z0.~_") == "a-Z0.~_")
    #expect(inAddress("ü /?&#%\u{1}²") == "%C3%BC%20%2F%3F%26%23%25%01%C2%B2")
  }

  @Test("The fields of a plain form are decoded; a damaged one counts as missing")
  func fields() {
    #expect(formFields("a=1+2&b=%C3%BC&a=3&c&d=%&=e") == ["a": "3", "b": "ü", "": "e"])
  }

  @Test("A date has a beginning, and nothing else has one")
  func beginnings() throws {
    let today = LocalTime(now: .now())
    for day in ["1970-01-02", "2024-02-29", "2026-3-9", "2026-11-28", "9999-12-31"] {
      let begin = try #require(LocalTime.beginning(of: day))
      #expect(today.time(begin) == "00:00")
      #expect(today.isSameDay(begin, begin.advanced(seconds: 3600)))
      #expect(!today.isSameDay(begin, begin.advanced(seconds: -1)))
    }
    #expect(today.day(try #require(LocalTime.beginning(of: "2026-03-09"))) == "Monday 9 March 2026")
    for text in [
      "", "today", "2025-02-29", "2026-13-01", "2026-00-10", "2026-01-00", "2026-01-32", "1969-12-31", "10000-01-01",
      "2026-01", "2026-01-01-01", "2026-01-99999999999", "--1",
    ] { #expect(LocalTime.beginning(of: text) == nil, "\(text)") }
  }

  @Test("Days are named by their distance")
  func days() {
    let clock = LocalTime(now: .now())
    #expect(clock.day(clock.now) == "Today")
    #expect(clock.day(clock.now.advanced(seconds: -86_400)) == "Yesterday")
    #expect(clock.day(Timestamp(milliseconds: 1_700_000_000_000)).hasSuffix(" November 2023"))
    #expect(clock.short(clock.now) == clock.time(clock.now))
    #expect(clock.short(Timestamp(milliseconds: 1_700_000_000_000)) == "2023")
  }
}
