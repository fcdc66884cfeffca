import HTTPTypes
import Testing
import WebAccess

@testable import Web

@Suite struct GateTests {
  private let gate: Gate

  init() throws {
    gate = Gate(try PageAddress(.loopback(port: 8000), own: "ps-1.localhost", names: [], hasCertificate: false))
  }

  private func status(
    _ method: HTTPRequest.Method, host: String? = "ps-1.localhost:8000", site: String? = nil, origin: String? = nil
  ) throws -> Int {
    var head = HTTPRequest(method: method, scheme: "http", authority: host, path: "/")
    if let site { head.headerFields[try #require(HTTPField.Name("sec-fetch-site"))] = site }
    head.headerFields[.origin] = origin
    do { try gate.check(head) } catch { return error.status.code }
    return 200
  }

  @Test(
    "Only the page's own name and port are served",
    arguments: [
      "localhost:8000", "127.0.0.1:8000", "ps-1.localhost", "ps-1.localhost:8001", "evil.example", "127.evil.com",
      "ps-1.localhost:8000.evil.example", "",
    ])
  func host(name: String) throws {
    #expect(try status(.get, host: name, site: "same-origin") == 421)
    #expect(try status(.get, host: nil) == 421)
  }

  @Test("A person may open a page; only the page itself may change something or load its pictures")
  func fetchSite() throws {
    #expect(try status(.get, site: "none") == 200)
    #expect(try status(.get, site: "same-origin") == 200)
    #expect(try status(.post, site: "same-origin") == 200)
    #expect(try status(.post, site: "none") == 403)
    for site in ["same-site", "cross-site", "else"] {
      #expect(try status(.get, site: site) == 403)
      #expect(try status(.post, site: site, origin: "http://ps-1.localhost:8000") == 403)
    }
  }

  @Test("A browser that tells no site has to tell its origin for a change")
  func origin() throws {
    #expect(try status(.get) == 200)
    #expect(try status(.post) == 403)
    #expect(try status(.post, origin: "http://ps-1.localhost:8000") == 200)
    for origin in ["null", "http://ps-1.localhost:8001", "https://ps-1.localhost:8000", "http://evil.example"] {
      #expect(try status(.post, origin: origin) == 403)
      #expect(try status(.get, origin: origin) == 403)
    }
  }
}
