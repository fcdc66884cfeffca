import HTTP
import Synchronization
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(2))) struct SinkTests {
  private final class Sink: HTTPSink {
    let limit: Int
    let seen = Mutex<(head: HTTPResponse?, count: Int)>((nil, 0))

    init(limit: Int) { self.limit = limit }

    func begin(_ head: HTTPResponse) -> Bool {
      seen.withLock { $0.head = head }
      return limit > 0
    }

    func take(_ piece: UnsafeRawBufferPointer) -> Bool {
      seen.withLock { seen in
        seen.count += piece.count
        return seen.count <= limit
      }
    }
  }

  private let server: FaultServer
  private let client = HTTPClient()

  init() throws { server = try FaultServer() }

  @Test func aBodyComesPieceByPieceAndIsNotKept() async throws {
    let sink = Sink(limit: 1 << 20)
    var request = HTTPRequest(.get, server.url("json?text=\(String(repeating: "x", count: 1000))"))
    request.sink = sink
    request.limits.replyBytes = 1
    let response = try await client.send(request)
    #expect(response.status == 200 && response.body.isEmpty)
    #expect(sink.seen.withLock { $0.count } == 1000)
    #expect(sink.seen.withLock { $0.head }?.header("Content-Length") == "1000")
  }

  @Test(arguments: [0, 100_000]) func unwantedBytesEndTheTransfer(_ limit: Int) async throws {
    let sink = Sink(limit: limit)
    var request = HTTPRequest(.get, server.url("huge"))
    request.sink = sink
    do {
      _ = try await client.send(request)
      Issue.record("it came to an end")
    } catch { #expect(error.reason == .stopped) }
    #expect(sink.seen.withLock { $0.head }?.status == 200)
  }

  @Test(arguments: [
    ("/b", "https://a.test/b"), ("b", "https://a.test/x/b"), ("//c.test/y", "https://c.test/y"),
    ("http://c.test", "http://c.test/"), ("?q", "https://a.test/x/y?q"), ("/b#part", "https://a.test/b"),
  ])
  func aRedirectIsTakenRelativeToWhoSaysIt(_ location: String, _ target: String) {
    #expect(HTTPAddress.redirect(location, from: "https://a.test/x/y?z") == target)
  }

  @Test(arguments: [
    "file:///etc/passwd", "ftp://a.test/", "javascript:1", "https://u:p@a.test/", "https://", "a b", "\u{1}",
    "https://é.test/",
  ])
  func aRedirectToWhatCannotBeAskedIsNone(_ location: String) {
    #expect(HTTPAddress.redirect(location, from: "https://a.test/x/y") == nil)
  }
}
