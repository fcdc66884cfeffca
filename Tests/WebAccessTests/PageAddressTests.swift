import Testing

@testable import WebAccess

@Suite struct PageAddressTests {
  private func address(
    _ place: ListeningSocket.Place, names: [String] = [], hasCertificate: Bool = false
  ) throws -> PageAddress {
    try PageAddress(place, own: "ps-1.localhost", names: names, hasCertificate: hasCertificate)
  }

  @Test("On 127.0.0.1 the page has its own name, and further ones, with and without TLS")
  func loopback() throws {
    let plain = try address(.loopback(port: 8000), names: ["a.test:8000"])
    #expect(plain.origins == ["http://ps-1.localhost:8000", "http://a.test:8000"])
    let secure = try address(.loopback(port: 8000), names: ["a.test:8000"], hasCertificate: true)
    #expect(secure.origins == ["https://a.test:8000", "https://ps-1.localhost:8000"])
    #expect(!plain.isOutside && !secure.isOutside)
  }

  @Test("Other computers reach the page by TLS and by the names of the configuration alone")
  func network() throws {
    let address = try address(.network(port: 8000), names: ["a.test"], hasCertificate: true)
    #expect(address.origins == ["https://a.test"])
    #expect(address.isOutside)
    #expect(throws: WebError.self) { try self.address(.network(port: 8000), names: ["a.test"]) }
    #expect(throws: WebError.self) { try self.address(.network(port: 8000), hasCertificate: true) }
  }

  @Test("Behind a proxy the page has the proxy's names, and browsers speak TLS")
  func proxy() throws {
    #expect(try address(.proxy, names: ["a.test"]).origins == ["https://a.test"])
    #expect(throws: WebError.self) { try address(.proxy) }
  }
}
