import Messages
import Testing

@testable import HTTP
@testable import Matrix

@Suite struct MatrixFaultsTests {
  private let room = MatrixFaults(server: "the homeserver", use: .room)
  private let media = MatrixFaults(server: "the homeserver", use: .media)

  private func answer(_ status: Int, _ body: String = "", headers: [HTTPHeader] = []) -> MatrixAnswer {
    MatrixAnswer(HTTPResponse(status: status, headers: headers, body: Array(body.utf8)))
  }

  private func refusal(_ code: String) -> String { #"{"errcode": "\#(code)", "error": "SECRET"}"# }

  @Test(arguments: [
    (401, "M_UNKNOWN_TOKEN", Cause.authExpired), (401, "M_MISSING_TOKEN", .authExpired),
    (403, "M_USER_DEACTIVATED", .accountDisabled), (401, "M_USER_LOCKED", .accountDisabled),
    (403, "M_FORBIDDEN", .forbidden), (404, "M_NOT_FOUND", .roomGone), (429, "M_LIMIT_EXCEEDED", .rateLimited),
    (403, "M_RESOURCE_LIMIT_EXCEEDED", .configError), (413, "M_TOO_LARGE", .rejected),
    (404, "M_UNRECOGNIZED", .configError), (400, "M_BAD_JSON", .malformedRequest), (500, "M_UNKNOWN", .serverBusy),
    (400, "M_UNKNOWN", .rejected), (403, "ORG_EXAMPLE_NEW", .forbidden), (404, "ORG_EXAMPLE_NEW", .roomGone),
  ])
  func aRoomsRefusalHasACause(_ status: Int, _ code: String, _ cause: Cause) {
    let error = room.error(answer(status, refusal(code)))
    #expect(error.cause == cause)
    #expect(error.sentence.contains("(\(status) \(code))") && !error.sentence.contains("SECRET"))
  }

  @Test(arguments: [
    (401, "M_UNKNOWN_TOKEN"), (403, "M_FORBIDDEN"), (404, "M_NOT_FOUND"), (400, "M_BAD_JSON"), (400, "M_UNKNOWN"),
    (404, "M_UNRECOGNIZED"),
  ])
  func theMediaRepositorysRefusalFailsNoPhoto(_ status: Int, _ code: String) {
    #expect(media.error(answer(status, refusal(code))).cause.disposition == .hold)
  }

  @Test(arguments: ["", "<!DOCTYPE html><html>Forbidden", "null", "[]", "{\"error\": \"nginx\"}"])
  func proxyErrorsFailOnlyTooLargeMessages(_ body: String) {
    for status in [301, 400, 401, 403, 404, 405, 407, 418, 429, 500, 502, 503, 504, 511] {
      #expect(room.error(answer(status, body)).cause.disposition != .fail, "\(status)")
      #expect(media.error(answer(status, body)).cause.disposition != .fail, "\(status)")
    }
    #expect(room.error(answer(502, body)).cause == .serverBusy && room.error(answer(404, body)).cause == .serverBusy)
    #expect(room.error(answer(413, body)).cause == .rejected)
  }

  @Test(arguments: ["", "<html>", "null", "[]", "1", "{", "{\"errcode\": \"M_UNKNOWN\"}"])
  func invalidAnswersAreNoSuccess(_ body: String) {
    #expect(!answer(200, body).isSuccess)
    #expect(answer(200, "{}").isSuccess && answer(200, "{\"x\": [1]}").isSuccess)
  }

  @Test func theHeadersWaitCountsBeforeTheBodys() {
    func wait(_ body: String, _ header: String?) -> Double? {
      let headers = header.map { [HTTPHeader("Retry-After", $0)] } ?? []
      return room.error(answer(429, body, headers: headers)).retryAfter
    }
    let body = #"{"errcode": "M_LIMIT_EXCEEDED", "retry_after_ms": 4571}"#
    #expect(wait(body, "5") == 5 && wait(body, nil) == 4.571 && wait(body, "soon") == 4.571)
    #expect(wait(#"{"errcode": "M_LIMIT_EXCEEDED", "retry_after_ms": 1e300}"#, nil) == RetryAfter.longest)
    #expect(wait(#"{"errcode": "M_LIMIT_EXCEEDED", "retry_after_ms": -1}"#, nil) == 0)
    #expect(wait(#"{"errcode": "M_LIMIT_EXCEEDED", "retry_after_ms": "5"}"#, nil) == nil)
    #expect(wait("", nil) == nil)
    let refused = refusal("M_UNKNOWN_TOKEN")
    #expect(room.error(answer(401, refused, headers: [HTTPHeader("Retry-After", "5")])).retryAfter == nil)
  }

  @Test(arguments: ["", "m_forbidden", "M FORBIDDEN", "M_\u{1b}[31m", String(repeating: "M", count: 65), "É"])
  func invalidCodesAreLeftOut(_ code: String) {
    #expect(answer(503, #"{"errcode": "\#(code)"}"#).code == nil)
  }

  @Test func interruptedPublishingFailsNothing() {
    let error = HTTPError(reason: .cancelled, host: "example.test", wasNeverSent: false)
    #expect(room.error(error).cause == .network && media.error(error).cause == .cancelled)
  }
}
