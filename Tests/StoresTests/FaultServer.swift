import Foundation
import HTTP
import TestSupport

extension FaultServer {
  /// Has the server do this with the next requests, whatever they ask.
  func script(_ words: String...) async throws {
    let body = Array(try JSONEncoder().encode(words))
    _ = try await HTTPClient().send(HTTPRequest(.put, url("-/script"), body: body))
  }

  /// Has it answer the next request with this text.
  static func says(_ text: String) -> String {
    let kept = CharacterSet.alphanumerics
    return "json?text=\(text.addingPercentEncoding(withAllowedCharacters: kept) ?? "")"
  }

  /// All that it was asked so far.
  func asked() async throws -> [Asked] {
    let response = try await HTTPClient().send(HTTPRequest(.get, url("-/log")))
    return try JSONDecoder().decode([Asked].self, from: Data(response.body))
  }
}
