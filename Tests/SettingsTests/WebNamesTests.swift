import SettingKit
import Testing

@testable import Settings

@Suite struct WebNamesTests {
  private let names = SettingKind<[String]>.webNames

  @Test("Names of the page are hosts in lower case with their ports, and commas stand between them")
  func accepted() {
    #expect(names.parse("") == [])
    #expect(names.parse("photos.example.org") == ["photos.example.org"])
    #expect(
      names.parse("a.test:7377, [2001:db8::1]:80,127.0.0.2") == ["a.test:7377", "[2001:db8::1]:80", "127.0.0.2"])
  }

  @Test(
    "Anything else is refused",
    arguments: [
      "Photos.example.org", "https://a.test", "a.test/", "a.test:0", "a.test:70000", "a.test:", "a b", "a,,b", ",a",
      "a,",
      " ", "-a", "a-", "a@b", "*", "a.test:7377/x", "ä.test",
    ])
  func others(text: String) { #expect(names.parse(text) == nil) }
}
