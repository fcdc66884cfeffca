import Foundation
import HTTP

/// A server for one test that misbehaves as `fault_server.py` describes.
package struct FaultServer: Sendable {
  /// A request to the server.
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

  /// The URL for the behaviour `what`.
  package func url(_ what: String) -> String { "\(endpoint)/\(what)" }

  /// Sets the behaviour for the next requests.
  package func script(_ words: String...) async throws { try await script(words) }

  package func script(_ words: [String]) async throws {
    let body = Array(try JSONEncoder().encode(words))
    _ = try await HTTPClient().send(HTTPRequest(.put, url("-/script"), body: body))
  }

  /// The behaviour that answers with this text, through the server's `json`.
  package static func says(_ text: String, status: Int = 200, retryAfter: String? = nil) -> String {
    let escaped = text.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
    return "json/\(status)?text=\(escaped)" + (retryAfter.map { "&retry-after=\($0)" } ?? "")
  }

  package func asked() async throws -> [Asked] {
    let response = try await HTTPClient().send(HTTPRequest(.get, url("-/log")))
    return try JSONDecoder().decode([Asked].self, from: Data(response.body))
  }
}
