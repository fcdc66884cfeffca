import FoundationEssentials
import HTTP

/// An answer of a JSON service of Google Cloud, or of a proxy.
package struct GoogleAnswer: Sendable {
  private struct Body: Decodable {
    let error: Facts
  }

  private struct Facts: Decodable {
    let status: String?
    let details: [Detail]?
  }

  private struct Detail: Decodable {
    let reason: String?
  }

  package let status: Int
  /// The word of an error, such as `ALREADY_EXISTS`, if any.
  package let word: String?
  /// The reason of an error in its details, such as `SERVICE_DISABLED`, if any.
  let reason: String?
  /// Whether the body is JSON. Errors without it come from proxies.
  package let isJSON: Bool
  let retryAfter: String?
  private let body: [UInt8]

  package init(_ response: HTTPResponse) {
    status = response.status
    body = response.body
    let facts = (try? JSONDecoder().decode(Body.self, from: Data(body)))?.error
    word = facts?.status?.asWord(with: "_")
    reason = facts?.details?.lazy.compactMap { $0.reason?.asWord(with: "_") }.first
    let first = body.first { !" \t\r\n".utf8.contains($0) }
    isJSON = first == UInt8(ascii: "{") || first == UInt8(ascii: "[")
    retryAfter = response.header("Retry-After")
  }

  /// Whether the service did what was asked. Login pages also answer 200, but without JSON.
  package var isSuccess: Bool { 200..<300 ~= status && isJSON && word == nil }

  /// The decoded body; nil if it has another type.
  package func decoded<Value: Decodable>(as type: Value.Type) -> Value? {
    try? JSONDecoder().decode(type, from: Data(body))
  }
}
