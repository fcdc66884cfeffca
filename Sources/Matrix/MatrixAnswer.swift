import FoundationEssentials
import HTTP
import Messages

/// An answer of a homeserver or of a proxy.
package struct MatrixAnswer: Sendable {
  /// The members of an error.
  private struct Facts: Decodable {
    let errcode: Lossy<String>?
    let retryAfterMilliseconds: Lossy<Double>?

    private enum CodingKeys: String, CodingKey {
      case errcode
      case retryAfterMilliseconds = "retry_after_ms"
    }
  }

  /// nil for a value of another type.
  private struct Lossy<Value: Decodable>: Decodable {
    let value: Value?
    init(from decoder: any Decoder) { value = try? Value(from: decoder) }
  }

  package let status: Int
  /// The specification's error code, such as `M_FORBIDDEN`, if any.
  package let code: String?
  private let body: [UInt8]
  private let isObject: Bool
  private let retryAfterHeader: String?
  private let retryAfterMilliseconds: Double?

  init(_ response: HTTPResponse) {
    status = response.status
    body = JSONValue.text(response.body, cutAt: JSONValue.depth)
    let facts = try? JSONDecoder().decode(Facts.self, from: Data(body))
    isObject = facts != nil
    code = facts?.errcode?.value?.asWord(with: "_.")
    retryAfterHeader = response.header("Retry-After")
    retryAfterMilliseconds = facts?.retryAfterMilliseconds?.value
  }

  /// Whether a homeserver did what was asked. Proxies and login pages also answer 200, but without a JSON object.
  package var isSuccess: Bool { 200..<300 ~= status && isObject && code == nil }

  /// Whether it may be a homeserver's. Errors without a JSON body come from proxies.
  var isMatrix: Bool { isObject && (isSuccess || code != nil) }

  var isTokenRefused: Bool { code == "M_UNKNOWN_TOKEN" || code == "M_MISSING_TOKEN" || status == 401 }

  /// The decoded body; nil if it has another type.
  package func decoded<Body: Decodable>(as type: Body.Type) -> Body? {
    try? JSONDecoder().decode(type, from: Data(body))
  }

  /// A member of the body; nil if it is missing or has another type.
  package func member<Value: Decodable>(_ name: String) -> Value? {
    decoded(as: [String: Lossy<Value>].self)?[name]?.value
  }

  /// The body as any JSON; nil when it is none.
  package var json: JSONValue? { decoded(as: JSONValue.self) }

  /// The requested wait in seconds: from the header, or the older one in the body.
  func retryAfter(now: Timestamp) -> Double? {
    if let seconds = retryAfterHeader.flatMap({ RetryAfter.seconds($0, now: now) }) { return seconds }
    return retryAfterMilliseconds.map { min(max($0 / 1000, 0), RetryAfter.longest) }
  }
}
