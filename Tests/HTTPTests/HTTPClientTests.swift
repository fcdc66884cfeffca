import Digests
import Foundation
import HTTP
import TestSupport
import Testing

/// Limits only bound failures; no time is measured.
@Suite(.timeLimit(.minutes(2))) struct HTTPClientTests {
  private static let shared = Result { try FaultServer() }
  private static let million = (0..<1_000_000).map { UInt8(truncatingIfNeeded: $0 &* 7) }

  private let server: FaultServer
  private let client = HTTPClient()
  private let bytes = Self.million

  init() throws { server = try Self.shared.get() }

  private func reason(_ request: HTTPRequest, of client: HTTPClient? = nil) async -> HTTPError.Reason? {
    await error(request, of: client)?.reason
  }

  private func error(_ request: HTTPRequest, of client: HTTPClient? = nil) async -> HTTPError? {
    do {
      _ = try await (client ?? self.client).send(request)
      return nil
    } catch {
      return error
    }
  }

  private func limits(_ set: (inout HTTPLimits) -> Void) -> HTTPLimits {
    var limits = HTTPLimits()
    set(&limits)
    return limits
  }

  @Test(arguments: [HTTPRequest.Method.put, .post])
  func aBodyArrivesByteForByte(by method: HTTPRequest.Method) async throws {
    let asked = try await client.send(HTTPRequest(method, server.url("echo"), body: bytes)).asked()
    #expect(asked.method == method.rawValue)
    #expect(asked.bytes == bytes.count && asked.sha256 == SHA256Digest(of: bytes).hex)
    #expect(asked.header("Content-Length") == "1000000")
  }

  @Test func aRequestHasNothingOfTheOneBeforeIt() async throws {
    var first = HTTPRequest(.put, server.url("echo"), headers: [HTTPHeader("X-Before", "1")], body: bytes)
    for method in [HTTPRequest.Method.get, .post, .delete, .head, .put, .get] {
      _ = try await client.send(first)
      let request = HTTPRequest(method, server.url("echo"))
      let response = try await client.send(request)
      if method != .head {
        let asked = try response.asked()
        #expect(asked.method == method.rawValue && asked.bytes == 0 && asked.header("X-Before") == nil)
      }
      first = HTTPRequest(.post, server.url("echo"), headers: [HTTPHeader("X-Before", "2")], body: [1, 2, 3])
    }
  }

  @Test func theHeadAloneIsAskedFor() async throws {
    let response = try await client.send(HTTPRequest(.head, server.url("status/404")))
    #expect(response.status == 404 && response.body.isEmpty)
  }

  @Test func onlyTheGivenHeadersAreSent() async throws {
    let request = HTTPRequest(
      .post, server.url("echo"), headers: [HTTPHeader("X-One", "1 2"), HTTPHeader("X-Empty", "")], body: bytes)
    let asked = try await client.send(request).asked()
    #expect(Set(asked.headers.map { $0[0] }) == ["Host", "Accept", "User-Agent", "X-One", "X-Empty", "Content-Length"])
    #expect(asked.header("X-One") == "1 2" && asked.header("X-Empty") == "")
    #expect(asked.header("User-Agent") == "photospool")
  }

  @Test func thePathGoesOutAsItWasWritten() async throws {
    let path = "echo/../a%2Fb/.//%C3%A9?x=%20&y"
    #expect(try await client.send(HTTPRequest(.get, server.url(path))).asked().target == "/" + path)
  }

  @Test func answerCarriesStatusAndHeaders() async throws {
    let response = try await client.send(HTTPRequest(.get, server.url("status/429?retry-after=7")))
    #expect(response.status == 429 && !response.isSuccess)
    #expect(response.header("retry-AFTER") == "7" && response.header("x-none") == nil)
  }

  @Test func aConnectionIsUsedAgain() async throws {
    var connections = Set<Int>()
    for _ in 0..<5 {
      connections.insert(try await client.send(HTTPRequest(.get, server.url("echo"))).asked().connection)
    }
    #expect(connections.count == 1)
  }

  @Test func manyRequestsAtOnceEachGetTheirOwnAnswer() async throws {
    let (client, server) = (client, server)
    try await withThrowingTaskGroup(of: Void.self) { group in
      for number in 0..<40 {
        group.addTask {
          let body = [UInt8](repeating: UInt8(number), count: 100_000)
          let asked = try await client.send(HTTPRequest(.put, server.url("echo?\(number)"), body: body)).asked()
          #expect(asked.target == "/echo?\(number)" && asked.sha256 == SHA256Digest(of: body).hex)
        }
      }
      try await group.waitForAll()
    }
  }

  @Test func closedIdleConnectionIsReplacedSilently() async throws {
    _ = try await client.send(HTTPRequest(.get, server.url("echo")))
    let url = server.url("once-then/close")
    _ = try await client.send(HTTPRequest(.put, url, body: bytes))
    let asked = try await client.send(HTTPRequest(.put, url, body: bytes)).asked()
    #expect(asked.sha256 == SHA256Digest(of: bytes).hex)
  }

  @Test func answerBeforeTheWholeBodyCounts() async throws {
    let body = [UInt8](repeating: 1, count: 20_000_000)
    #expect(try await client.send(HTTPRequest(.put, server.url("early"), body: body)).status == 403)
  }

  @Test func aRedirectIsAnAnswerAndNotFollowed() async throws {
    let response = try await client.send(HTTPRequest(.get, server.url("redirect")))
    #expect(response.status == 307 && response.header("Location") == "/echo")
  }

  @Test(arguments: ["close", "reset", "reset-reply", "garbage"])
  func aLostConnectionSaysThatNobodyKnows(_ what: String) async throws {
    let error = try #require(await error(HTTPRequest(.put, server.url(what), body: bytes)))
    #expect(error.reason == .connectionLost && !error.wasNeverSent)
  }

  @Test(arguments: ["huge", "headers"])
  func anAnswerWithoutEndIsCutOff(_ what: String) async {
    let request = HTTPRequest(.get, server.url(what), limits: limits { $0.replyBytes = 100_000 })
    #expect(await reason(request) == .replyTooLarge(limit: 100_000))
  }

  @Test(arguments: ["huge", "drip", "half", "reset-reply"], [0, 5, 1000])
  func noMoreOfASuccessIsWaitedForThanIsNeeded(_ what: String, _ needed: Int) async throws {
    var request = HTTPRequest(.put, server.url(what), body: bytes)
    request.successBytes = needed
    let response = try await client.send(request)
    #expect(response.status == 200 && response.body.count <= needed)
    if what == "huge" { #expect(response.body.count == needed) }
  }

  @Test func restOfAShortAnswerIsReadAndTheConnectionIsReused() async throws {
    let (client, server) = (HTTPClient(), try FaultServer())
    for _ in 0..<5 {
      var request = HTTPRequest(.post, server.url("json?text=\(String(repeating: "x", count: 1000))"), body: bytes)
      request.successBytes = 0
      #expect(try await client.send(request).body == [])
    }
    let connections = try await server.asked().map(\.connection)
    #expect(Set(connections).count == 1, "\(connections)")
  }

  @Test func anAnswerOfJustTheLimitIsWhole() async throws {
    let text = String(repeating: "x", count: 1000)
    let fits = HTTPRequest(.get, server.url("json?text=\(text)"), limits: limits { $0.replyBytes = 1000 })
    #expect(try await client.send(fits).body.count == 1000)
    let exceeds = HTTPRequest(.get, server.url("json?text=\(text)"), limits: limits { $0.replyBytes = 999 })
    #expect(await reason(exceeds) == .replyTooLarge(limit: 999))
  }

  @Test(arguments: ["stall", "deaf", "half"])
  func aServerThatGoesSilentRunsIntoTheStallLimit(_ what: String) async throws {
    let body = [UInt8](repeating: 1, count: 20_000_000)
    let request = HTTPRequest(.put, server.url(what), body: body, limits: limits { $0.stall = .seconds(1) })
    let error = try #require(await error(request))
    #expect(error.reason == .timedOut(.stall) && !error.wasNeverSent)
  }

  @Test func theTotalLimitEndsARequest() async throws {
    let request = HTTPRequest(.get, server.url("stall"), limits: limits { $0.total = .milliseconds(200) })
    #expect(await reason(request) == .timedOut(.total))
  }

  @Test func theConnectLimitEndsARequestThatWasNeverSent() async throws {
    let deaf = try FullListener()
    let request = HTTPRequest(
      .put, "http://127.0.0.1:\(deaf.port)/", body: bytes, limits: limits { $0.connect = .milliseconds(300) })
    let error = try #require(await error(request))
    #expect(error.reason == .timedOut(.connect) && error.wasNeverSent)
  }

  @Test(arguments: ["stall", "deaf", "half"])
  func cancellingTheTaskEndsTheTransfer(_ what: String) async throws {
    let (client, request) = (client, HTTPRequest(.put, server.url(what), body: bytes))
    let (begun, begin) = AsyncStream<Void>.makeStream()
    let task = Task { try await client.send(request) { if $0 == 1 || what == "deaf" { begin.finish() } } }
    for await _ in begun {}
    task.cancel()
    await #expect {
      try await task.value
    } throws: { error in
      (error as? HTTPError)?.reason == .cancelled
    }
  }

  @Test func aTaskThatIsAlreadyCancelledSendsNothing() async throws {
    let (client, request) = (client, HTTPRequest(.get, server.url("stall")))
    let (gate, open) = AsyncStream<Void>.makeStream()
    let task = Task {
      for await _ in gate {}
      return try await client.send(request)
    }
    task.cancel()
    open.finish()
    await #expect {
      try await task.value
    } throws: { error in
      (error as? HTTPError)?.reason == .cancelled && (error as? HTTPError)?.wasNeverSent == true
    }
  }

  @Test func cancellingOneTransferLeavesTheOthersAlone() async throws {
    let (client, server, bytes) = (client, server, bytes)
    let (begun, begin) = AsyncStream<Void>.makeStream()
    let request = HTTPRequest(.put, server.url("stall"), body: [1])
    let stuck = Task { try await client.send(request) { _ in begin.finish() } }
    for await _ in begun {}
    async let other = client.send(HTTPRequest(.put, server.url("echo"), body: bytes))
    stuck.cancel()
    #expect(try await other.asked().sha256 == SHA256Digest(of: bytes).hex)
    _ = await stuck.result
  }

  @Test func aPortWhereNobodyListensCannotBeConnectedTo() async throws {
    let closed = try ClosedPort()
    defer { withExtendedLifetime(closed) {} }
    let port = closed.port
    let error = try #require(await error(HTTPRequest(.put, "http://127.0.0.1:\(port)/", body: bytes)))
    #expect(error.reason == .cannotConnect && error.wasNeverSent && error.host == "127.0.0.1:\(port)")
  }

  @Test func aNameThatDoesNotExistCannotBeLookedUp() async throws {
    let error = try #require(await error(HTTPRequest(.get, "http://nowhere.invalid/")))
    #expect(error.reason == .cannotResolve && error.wasNeverSent)
  }

  @Test(arguments: [
    "", "photos", "ftp://example.test/", "file:///etc/passwd", "http://", "https:///x",
    "http://user:secret@example.test/",
    "http://example.test/a b", "http://example.test/é", "http://example.test/\n", "http://example.test:99999/",
    "http://example.test/#part",
  ])
  func invalidURLsAreRefused(_ url: String) async {
    let error = await error(HTTPRequest(.get, url))
    #expect(error?.reason == .badURL && error?.wasNeverSent == true)
    #expect(error?.description.contains("secret") == false)
  }

  @Test(arguments: [
    HTTPHeader("X", "a\r\nY: b"), HTTPHeader("X\n", ""), HTTPHeader("", "x"), HTTPHeader("A b", "c"),
    HTTPHeader("X", "\u{0}"), HTTPHeader("X:", "y"),
  ])
  func aHeaderThatWouldBeTwoIsRefused(_ header: HTTPHeader) async {
    let request = HTTPRequest(.get, server.url("echo"), headers: [header])
    #expect(await reason(request) == .badHeader(header.name))
  }

  /// Runs in its own process, because it changes the environment.
  @Test func aProxyOfTheEnvironmentIsNotUsed() async throws {
    await #expect(processExitsWith: .success) {
      let server = try FaultServer()
      for name in ["http_proxy", "https_proxy", "all_proxy", "ALL_PROXY"] { setenv(name, "http://127.0.0.1:1", 1) }
      let response = try await HTTPClient().send(HTTPRequest(.get, server.url("echo")))
      guard response.status == 200 else { exit(1) }
    }
  }

  @Test func aProxyOfTheConfigurationIsUsed() async throws {
    var options = HTTPOptions()
    options.proxy = server.endpoint
    let asked = try await HTTPClient(options).send(HTTPRequest(.get, "http://127.0.0.1:1/echo")).asked()
    #expect(asked.target == "http://127.0.0.1:1/echo")
  }

  @Test func aProxyThatIsNotThereIsNamedAsTheFault() async {
    var options = HTTPOptions()
    options.proxy = "http://127.0.0.1:1"
    let error = await error(HTTPRequest(.get, server.url("echo")), of: HTTPClient(options))
    #expect(error?.reason == .cannotReachProxy && error?.wasNeverSent == true)
  }

  @Test func requestsDescribeThemselvesWithoutSecrets() {
    let request = HTTPRequest(
      .put, "https://example.test/?X-Amz-Signature=secret", headers: [HTTPHeader("Authorization", "secret")])
    var dumped = ""
    dump(request, to: &dumped)
    #expect(!"\(request) \(String(reflecting: request)) \(request.headers) \(dumped)".contains("secret"))
  }
}
