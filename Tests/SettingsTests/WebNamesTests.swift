import Testing

@testable import Settings

@Suite struct WebNamesTests {
  @Test("Names of the page are hosts in lower case with their ports, and commas stand between them")
  func names() {
    #expect(WebNames("")?.all == [])
    #expect(WebNames("photos.example.org")?.all == ["photos.example.org"])
    #expect(
      WebNames("a.test:7377, [2001:db8::1]:80,127.0.0.2")?.all == ["a.test:7377", "[2001:db8::1]:80", "127.0.0.2"])
  }

  @Test(
    "Anything else is refused",
    arguments: [
      "Photos.example.org", "https://a.test", "a.test/", "a.test:0", "a.test:70000", "a.test:", "a b", "a,,b", ",a",
      "a,",
      " ", "-a", "a-", "a@b", "*", "a.test:7377/x", "ä.test",
    ])
  func others(text: String) { #expect(WebNames(text) == nil) }
}
