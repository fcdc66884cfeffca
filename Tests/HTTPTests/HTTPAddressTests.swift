import HTTP
import Testing

@Suite struct HTTPAddressTests {
  @Test(arguments: [
    ("https://example.test", "example.test", "/"), ("https://example.test:443/", "example.test", "/"),
    ("http://example.test:80/a", "example.test", "/a"), ("http://example.test:443/", "example.test:443", "/"),
    ("HTTPS://Example.test:9000/a%2fb/../c", "Example.test:9000", "/a%2fb/../c"), ("http://[::1]:81/", "[::1]:81", "/"),
  ])
  func urlSplitsIntoHostHeaderAndRequestLine(_ url: String, _ authority: String, _ path: String) throws {
    let address = try #require(HTTPAddress(url))
    #expect(address.authority == authority && address.path == path)
    #expect(["http", "https"].contains(address.scheme))
  }

  @Test func theQueryIsKeptAsItWasWritten() {
    #expect(HTTPAddress("https://example.test/a?b=%2F&c=x:///y")?.query == "b=%2F&c=x:///y")
    #expect(HTTPAddress("https://example.test/a")?.query == nil)
  }
}
