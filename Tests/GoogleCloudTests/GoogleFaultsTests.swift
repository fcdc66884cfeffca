import HTTP
import Messages
import Testing

@testable import GoogleCloud

@Suite struct GoogleFaultsTests {
  private func error(
    _ status: Int, _ body: String = #"{"error":{"message":"SECRET"}}"#, _ use: GoogleUse = .documents,
    headers: [HTTPHeader] = []
  ) -> DeliveryError {
    GoogleFaults(service: "the service", use: use).error(
      GoogleAnswer(HTTPResponse(status: status, headers: headers, body: Array(body.utf8))))
  }

  @Test(
    "each status has a cause for documents and one for objects",
    arguments: [
      (400, Cause.malformedRequest, Cause.configError), (401, .authExpired, .authExpired),
      (403, .forbidden, .configError), (404, .configError, .configError), (409, .conflict, .conflict),
      (413, .rejected, .rejected), (429, .serverBusy, .serverBusy), (500, .serverBusy, .serverBusy),
      (503, .serverBusy, .serverBusy), (301, .configError, .configError), (408, .timeout, .timeout),
      (511, .network, .network), (407, .configError, .configError),
    ])
  func statuses(_ status: Int, _ document: Cause, _ object: Cause) {
    #expect(error(status).cause == document)
    #expect(error(status, "{}", .objects).cause == object)
    #expect(!error(status).sentence.contains("SECRET"))
  }

  @Test(
    "a refusal that concerns the project or the account holds the network",
    arguments: [
      ("SERVICE_DISABLED", Cause.configError), ("IAM_PERMISSION_DENIED", .configError),
      ("BILLING_DISABLED", .configError), ("ACCESS_TOKEN_EXPIRED", .authExpired), ("SOMETHING_ELSE", .forbidden),
    ])
  func reasons(_ reason: String, _ cause: Cause) {
    let body = #"{"error":{"status":"PERMISSION_DENIED","details":[{"x":1},{"reason":"\#(reason)"}]}}"#
    #expect(error(403, body).cause == cause)
    #expect(error(403, body).sentence.hasSuffix("(403 PERMISSION_DENIED \(reason))"))
  }

  @Test("a page of a proxy fails no message", arguments: [200, 400, 403, 404, 502])
  func pages(_ status: Int) {
    #expect(error(status, "<!DOCTYPE html>").cause.disposition == .retry)
  }

  @Test("the requested wait is passed on, and only for what is tried again")
  func hints() {
    let headers = [HTTPHeader("Retry-After", "7")]
    #expect(error(429, "{}", headers: headers).retryAfter == 7)
    #expect(error(403, "{}", headers: headers).retryAfter == nil)
  }

  @Test("words of the other side are shown only if they are words")
  func words() {
    #expect(error(503, #"{"error":{"status":"a b\u001b"}}"#).sentence == "the service cannot serve at the moment (503)")
    #expect(error(503, #"{"error":{"status":"UNAVAILABLE"}}"#).sentence.hasSuffix("(503 UNAVAILABLE)"))
  }
}
