import Messages
import Testing

@testable import HTTP
@testable import Stores

@Suite struct StoreFaultsTests {
  private let faults = StoreFaults(store: "the store")

  private func error(_ status: Int, _ body: String = "", headers: [HTTPHeader] = []) -> DeliveryError {
    faults.error(StoreAnswer(HTTPResponse(status: status, headers: headers, body: Array(body.utf8))))
  }

  private func s3(_ code: String) -> String {
    "<?xml version=\"1.0\"?>\n<Error><Code>\(code)</Code><Message>key SECRET</Message></Error>"
  }

  @Test(arguments: [
    (400, Cause.configError), (401, .authExpired), (403, .configError), (404, .configError), (405, .configError),
    (408, .timeout), (409, .conflict), (413, .rejected), (425, .serverBusy), (429, .rateLimited), (500, .serverBusy),
    (501, .configError), (502, .serverBusy), (503, .serverBusy), (504, .serverBusy), (507, .serverBusy),
    (511, .network), (301, .configError), (307, .configError), (599, .serverBusy), (418, .configError),
  ])
  func aStatusAloneHasACause(_ status: Int, _ cause: Cause) {
    #expect(error(status).cause == cause)
    #expect(error(status, "<!DOCTYPE html><html>").cause == cause)
  }

  @Test(arguments: [
    (403, "InvalidAccessKeyId", Cause.authExpired), (403, "SignatureDoesNotMatch", .authExpired),
    (400, "ExpiredToken", .authExpired), (403, "AccessDenied", .configError), (404, "NoSuchBucket", .configError),
    (400, "AuthorizationHeaderMalformed", .configError), (301, "PermanentRedirect", .configError),
    (403, "AccountProblem", .accountDisabled), (403, "QuotaExceeded", .configError), (400, "EntityTooLarge", .rejected),
    (400, "RequestTimeout", .timeout), (503, "SlowDown", .rateLimited), (409, "OperationAborted", .conflict),
    (400, "BadDigest", .network), (500, "InternalError", .serverBusy), (200, "InternalError", .serverBusy),
  ])
  func aWordOfS3HasACause(_ status: Int, _ code: String, _ cause: Cause) {
    let error = error(status, s3(code))
    #expect(error.cause == cause)
    #expect(error.sentence.contains(code) && !error.sentence.contains("SECRET"))
  }

  @Test func aClockThatIsWrongIsSaidToBe() {
    let error = error(403, s3("RequestTimeTooSkewed"))
    #expect(error.cause == .configError && error.sentence.contains("set the clock"))
  }

  @Test func aPageForPeopleIsNoSuccess() {
    let answer = StoreAnswer(HTTPResponse(status: 200, body: Array("\n <HTML>Sign in".utf8)))
    #expect(!answer.isSuccess)
    #expect(faults.error(answer).cause == .network && faults.error(answer).sentence.contains("login page"))
  }

  @Test func theHintOfTheOtherSideIsPassedOn() {
    #expect(error(429, headers: [HTTPHeader("retry-after", "7")]).retryAfter == 7)
    #expect(error(503, headers: [HTTPHeader("Retry-After", "soon")]).retryAfter == nil)
    #expect(error(401, headers: [HTTPHeader("Retry-After", "7")]).retryAfter == nil)
  }

  @Test(arguments: [
    "<Error><Code></Code></Error>", "<Error><Code>a b</Code></Error>", "<Error><Code>", "</Code><Error><Code>",
    "<Error><Code>\u{1b}[31m</Code></Error>", "<Code>NoSuchBucket</Code>",
    "<Error><Code>\(String(repeating: "x", count: 65))</Code></Error>", "\u{0}\u{ff}",
  ])
  func invalidCodesAreLeftOut(_ body: String) {
    #expect(error(503, body).sentence == "the store cannot serve at the moment (503)")
  }

  @Test(arguments: [
    (HTTPError.Reason.cannotResolve, Cause.unreachable), (.cannotConnect, .unreachable), (.connectionLost, .network),
    (.timedOut(.connect), .unreachable), (.timedOut(.stall), .timeout), (.timedOut(.total), .timeout),
    (.tls(.expired), .configError), (.tls(.wrongHost), .configError), (.tls(.unknownAuthority), .configError),
    (.tls(.handshake), .network), (.replyTooLarge(limit: 1), .network), (.cancelled, .cancelled),
    (.badURL, .configError),
  ])
  func noAnswerHasACause(_ reason: HTTPError.Reason, _ cause: Cause) {
    let error = faults.error(HTTPError(reason: reason, host: "example.test", wasNeverSent: true))
    #expect(error.cause == cause && !error.sentence.contains("\n"))
  }
}

/// Expects that an upload to a server that does not answer can be cancelled once it has begun.
func expectCancelled(
  _ store: some Store, _ object: ObjectName, _ bytes: [UInt8], at location: SourceLocation = #_sourceLocation
) async {
  let (begun, begin) = AsyncStream<Void>.makeStream()
  let upload = Task { try await store.put(object, bytes, contentType: "x/y") { if $0 > 0 { begin.finish() } } }
  for await _ in begun {}
  upload.cancel()
  let error = await #expect(throws: DeliveryError.self, sourceLocation: location) { try await upload.value }
  #expect(error == DeliveryError(.cancelled, "the upload was cancelled"), sourceLocation: location)
}
