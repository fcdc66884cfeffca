import Blocking
import Glibc
import Hummingbird
import Logging
import Testing
import WebAccess

@testable import Web

@Suite(.timeLimit(.minutes(5))) struct WebServerTests {
  private let pool = BlockingPool(label: "browsers", threads: 1)

  @Test(
    "A page that nobody visits ends by itself; one that somebody visits stays, and later visits are left to the next one"
  )
  func idleEnd() async throws {
    let socket = try ListeningSocket(port: 0)
    guard case .loopback(let port) = socket.place else { throw WebError("it listens elsewhere") }
    // A service manager keeps the socket, too.
    let kept = dup(socket.descriptor)
    defer { close(kept) }
    let idle = Duration.milliseconds(100)
    let server = WebServer(
      socket: socket, certificate: nil, respond: { _, _ in Response(status: .noContent) }, idleEnd: idle,
      log: Logger(label: "page") { _ in SwiftLogNoOpLogHandler() })
    let running = Task { try await server.run() }
    let answers = try await pool.run {
      let visit = try Visit(port)
      let begin = ContinuousClock.now
      var answers = [try visit.ask()]
      while ContinuousClock.now - begin < idle * 5 { answers.append(try visit.ask()) }
      return answers
    }
    #expect(Set(answers) == ["HTTP/1.1 204 No Content"])
    try await running.value
    try await pool.run {
      let late = try Visit(port)
      let taken = accept(kept, nil, nil)
      #expect(taken >= 0)
      close(taken)
      withExtendedLifetime(late) {}
    }
  }
}

/// A connection to the page.
private final class Visit {
  private let descriptor: Int32

  init(_ port: UInt16) throws {
    descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = INADDR_LOOPBACK.bigEndian
    let status = withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
    guard status == 0 else { throw WebError("cannot connect") }
  }

  deinit { close(descriptor) }

  /// The first line of the answer to a request; empty if the connection has ended.
  func ask() throws -> String {
    let request = Array("GET / HTTP/1.1\r\nHost: page\r\n\r\n".utf8)
    guard send(descriptor, request, request.count, Int32(MSG_NOSIGNAL)) == request.count else { return "" }
    var answer = [UInt8](repeating: 0, count: 4096)
    let count = recv(descriptor, &answer, answer.count, 0)
    return String(decoding: answer.prefix(max(0, count)).prefix { $0 != UInt8(ascii: "\r") }, as: UTF8.self)
  }
}
