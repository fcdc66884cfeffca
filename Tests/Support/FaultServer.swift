import Foundation
import HTTP

/// A server of a test's own that misbehaves as `fault_server.py` says.
package struct FaultServer: Sendable {
  /// What the server was asked, once.
  package struct Asked: Decodable, Sendable {
    package let method: String
    package let target: String
    package let headers: [[String]]
    package let connection: Int
    package let bytes: Int?
    package let sha256: String?

    package func header(_ name: String) -> String? { headers.first { $0[0].lowercased() == name.lowercased() }?[1] }
  }

  private let server: TestServer
  /// `http://127.0.0.1:PORT`.
  package var endpoint: String { server["endpoint"] }

  package init() throws { server = try TestServer("fault_server.py") }

  /// The URL that has the server do `what`.
  package func url(_ what: String) -> String { "\(endpoint)/\(what)" }

  /// Has the server do this with the next requests, whatever they ask.
  package func script(_ words: String...) async throws {
    let body = Array(try JSONEncoder().encode(words))
    _ = try await HTTPClient().send(HTTPRequest(.put, url("-/script"), body: body))
  }

  /// Has it answer the next request with this text, and with whatever else the server's `json` knows.
  package static func says(_ text: String, status: Int = 200, retryAfter: String? = nil) -> String {
    let escaped = text.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
    return "json/\(status)?text=\(escaped)" + (retryAfter.map { "&retry-after=\($0)" } ?? "")
  }

  /// All that it was asked so far.
  package func asked() async throws -> [Asked] {
    let response = try await HTTPClient().send(HTTPRequest(.get, url("-/log")))
    return try JSONDecoder().decode([Asked].self, from: Data(response.body))
  }
}
