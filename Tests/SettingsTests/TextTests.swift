import SettingKit
import Testing

@testable import Settings

struct TextTests {
  @Test(
    "a duration is a whole number and a unit",
    arguments: [
      ("250ms", Duration.milliseconds(250)), ("30s", .seconds(30)), ("5m", .seconds(300)), ("12h", .seconds(43_200)),
      ("5d", .seconds(432_000)), ("0s", .zero), ("90 s", .seconds(90)),
    ])
  func durations(text: String, duration: Duration) { #expect(DurationText.parse(text) == duration) }

  @Test(
    "what is no duration is refused",
    arguments: ["", "5", "s", "-5s", "+5s", "1.5h", "5 minutes", "5  m", "1h30m", "5S", "٥s", "9999999999999d"])
  func noDurations(text: String) { #expect(DurationText.parse(text) == nil) }

  @Test(
    "a duration is shown in the largest unit that leaves nothing over, and is read back from it",
    arguments: [
      ("5d", Duration.seconds(432_000)), ("36h", .seconds(129_600)), ("90m", .seconds(5400)), ("61s", .seconds(61)),
      ("1500ms", .milliseconds(1500)), ("0ms", .zero),
    ])
  func shownDurations(text: String, duration: Duration) {
    #expect(DurationText.show(duration) == text)
    #expect(DurationText.parse(text) == duration)
  }

  @Test(
    "a size is a whole number, of powers of 1000 or 1024",
    arguments: [
      ("0", 0), ("250000", 250_000), ("500 MB", 500_000_000), ("10MB", 10_000_000), ("1GB", 1_000_000_000),
      ("1GiB", 1_073_741_824), ("4 MiB", 4_194_304), ("2KiB", 2048), ("7kB", 7000), ("7KB", 7000), ("5b", 5),
      ("1mb", 1_000_000), ("1TB", 1_000_000_000_000),
    ])
  func sizes(text: String, bytes: Int) { #expect(SizeText.parse(text) == bytes) }

  @Test(
    "what is no size is refused", arguments: ["", "MB", "-1", "1.5GB", "10 megabytes", "1e6", "99999999TB", "1  MB"])
  func noSizes(text: String) { #expect(SizeText.parse(text) == nil) }

  @Test(
    "a size is shown in the largest unit that leaves nothing over, and is read back from it",
    arguments: [
      ("10MB", 10_000_000), ("999999", 999_999), ("1GiB", 1 << 30), ("1500kB", 1_500_000), ("3KiB", 3072), ("0", 0),
    ])
  func shownSizes(text: String, bytes: Int) {
    #expect(SizeText.show(bytes) == text)
    #expect(SizeText.parse(text) == bytes)
  }

  @Test(
    "the edit distance counts changed, missing, additional and swapped characters",
    arguments: [
      ("", "", 0), ("photo", "photo", 0), ("phto", "photo", 1), ("photto", "photo", 1), ("phato", "photo", 1),
      ("pohto", "photo", 1), ("", "log", 3), ("kitten", "sitting", 3), ("seal", "store", 4),
    ])
  func distances(left: String, right: String, distance: Int) {
    #expect(editDistance(Array(left), Array(right)) == distance)
    #expect(editDistance(Array(right), Array(left)) == distance)
  }

  @Test("a near word is suggested and a far one is not")
  func suggestions() {
    let names = ["longestSide", "bytes", "bestQuality", "worstQuality"]
    #expect(suggestion(for: "longest-side", among: names) == "longestSide")
    #expect(suggestion(for: "LONGESTSIDE", among: names) == "longestSide")
    #expect(suggestion(for: "byte", among: names) == "bytes")
    #expect(suggestion(for: "bestQualty", among: names) == "bestQuality")
    #expect(suggestion(for: "worst", among: names) == "worstQuality")
    #expect(suggestion(for: "exposure", among: names) == nil)
    #expect(suggestion(for: "", among: names) == nil)
    #expect(suggestion(for: String(repeating: "x", count: 1_000_000), among: names) == nil)
  }

  @Test("a text of the user's is cut and has no control characters inside a sentence")
  func quotedTexts() {
    #expect(quoted("a\u{1B}[31mb\n") == "`a\\u{1b}[31mb\\u{a}`")
    #expect(quoted("Zoë 📷") == "`Zoë 📷`")
    #expect(quoted(String(repeating: "x", count: 61)) == "`\(String(repeating: "x", count: 60))…`")
  }
}
