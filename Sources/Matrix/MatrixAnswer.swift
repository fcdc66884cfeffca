import FoundationEssentials
import HTTP
import Messages

/// An answer of a homeserver, or of a proxy before it, with what it says of itself.
package struct MatrixAnswer: Sendable {
  /// What every JSON object may hold.
  private struct Facts: Decodable {
    let errcode: String?
    let retryAfterMilliseconds: Double?

    private enum CodingKeys: String, CodingKey {
      case errcode
      case retryAfterMilliseconds = "retry_after_ms"
    }

    init(from decoder: any Decoder) throws {
      let members = try decoder.container(keyedBy: CodingKeys.self)
      errcode = try? members.decode(String.self, forKey: .errcode)
      retryAfterMilliseconds = try? members.decode(Double.self, forKey: .retryAfterMilliseconds)
    }
  }

  package let status: Int
  /// The specification's word, such as `M_FORBIDDEN`; nil where the body has none.
  package let code: String?
  private let body: [UInt8]
  private let isObject: Bool
  private let retryAfterHeader: String?
  private let retryAfterMilliseconds: Double?

  init(_ response: HTTPResponse) {
    status = response.status
    body = response.body
    let facts = try? JSONDecoder().decode(Facts.self, from: Data(response.body))
    isObject = facts != nil
    code = facts?.errcode.flatMap(Self.word)
    retryAfterHeader = response.header("Retry-After")
    retryAfterMilliseconds = facts?.retryAfterMilliseconds
  }

  /// A homeserver has done what was asked: proxies and login pages say 200, too, but no JSON object.
  package var isSuccess: Bool { 200..<300 ~= status && isObject && code == nil }

  /// Whether it can be a homeserver's. Errors that have no JSON body are those of what stands before it.
  var isMatrix: Bool { isObject && (isSuccess || code != nil) }

  /// The access token was not accepted.
  var isTokenRefused: Bool { code == "M_UNKNOWN_TOKEN" || code == "M_MISSING_TOKEN" || status == 401 }

  /// The body as that type; nil when it is not.
  package func decoded<Body: Decodable>(as type: Body.Type) -> Body? {
    try? JSONDecoder().decode(type, from: Data(body))
  }

  /// The body in pieces, each of which can be looked at for itself; nil when it is no JSON.
  package var slice: JSONSlice? { JSONSlice(body) }

  /// The wait that is asked for, in seconds: the header's, else the older one of the body.
  func retryAfter(now: Timestamp) -> Double? {
    if let seconds = retryAfterHeader.flatMap({ RetryAfter.seconds($0, now: now) }) { return seconds }
    return retryAfterMilliseconds.map { min(max($0 / 1000, 0), RetryAfter.longest) }
  }

  /// A word and nothing else goes into our sentences: what the other side says at length may hold anything.
  private static func word(_ code: String) -> String? {
    let isWord = code.utf8.allSatisfy { byte in
      switch byte {
      case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"),
        UInt8(ascii: "."):
        true
      default: false
      }
    }
    return 1...64 ~= code.utf8.count && isWord ? code : nil
  }
}
