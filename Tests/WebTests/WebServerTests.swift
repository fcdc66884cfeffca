import Glibc
import Hummingbird
import Logging
import NIOEmbedded
import Testing
import WebAccess

@testable import Web

@Suite(.timeLimit(.minutes(5))) struct WebServerTests {
  @Test("A page that nobody visits ends by itself, and leaves later visits to the next one")
  func idleEnd() async throws {
    let socket = try ListeningSocket(port: 0)
    guard case .loopback(let port) = socket.place else { throw WebError("it listens elsewhere") }
    // A service manager keeps the socket, too.
    let kept = dup(socket.descriptor)
    defer { close(kept) }
    try await WebServer(
      socket: socket, certificate: nil, respond: { _, _ in Response(status: .noContent) },
      idleEnd: .milliseconds(1), log: Logger(label: "page") { _ in SwiftLogNoOpLogHandler() }
    ).run()
    let visit = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    defer { close(visit) }
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = INADDR_LOOPBACK.bigEndian
    let status = withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        connect(visit, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
    try #require(status == 0)
    let taken = accept(kept, nil, nil)
    #expect(taken >= 0)
    close(taken)
  }

  @Test("A page does not end while a connection is open, and counts its idle time from the end of the last one")
  func openConnections() {
    let open = OpenConnections()
    let (first, second) = (EmbeddedChannel(), EmbeddedChannel())
    #expect(open.enter(first, limit: 2) && open.enter(second, limit: 2))
    #expect(open.rest(of: .zero) != nil)
    open.leave(first)
    #expect(open.rest(of: .zero) != nil)
    open.leave(second)
    #expect(open.rest(of: .zero) == nil)
    #expect(open.rest(of: .seconds(86_400)) != nil)
  }
}
