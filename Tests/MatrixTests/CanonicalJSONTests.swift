import Matrix
import Testing

/// The examples of the Matrix specification's appendix "Canonical JSON", and values that cannot be signed.
struct CanonicalJSONTests {
  private func canonical(_ value: JSONValue) -> String? {
    value.canonical.map { String(decoding: $0, as: UTF8.self) }
  }

  @Test func membersAreSortedByCodePoint() {
    #expect(canonical(.object(["two": .text("Two"), "one": .whole(1)])) == #"{"one":1,"two":"Two"}"#)
    #expect(canonical(.object(["日": .whole(1), "本": .whole(2)])) == #"{"日":1,"本":2}"#)
    #expect(canonical(.object(["a10": .null, "a9": .flag(true), "B": .list([])])) == #"{"B":[],"a10":null,"a9":true}"#)
  }

  @Test func onlyWhatJSONRequiresIsEscaped() {
    #expect(canonical(.text("a/\"\\\n\u{1}\u{7f}é\u{2028}")) == "\"a/\\\"\\\\\\n\\u0001\u{7f}é\u{2028}\"")
  }

  @Test func fractionsHaveNoForm() {
    #expect(canonical(.object(["a": .list([.number(1.5)])])) == nil)
    #expect(canonical(.object(["a": .whole(-3)])) == #"{"a":-3}"#)
  }
}
