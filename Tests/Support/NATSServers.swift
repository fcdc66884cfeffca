import Foundation

/// Three real NATS servers with JetStream on loopback, which sync before they answer.
package final class NATSServers: Sendable {
  package static let isInstalled: Bool = FileManager.default.isExecutableFile(
    atPath: URL(fileURLWithPath: python).deletingLastPathComponent().appendingPathComponent("nats-server").path)

  private let server: TestServer

  /// - Parameter tls: their certificate is for `localhost`, by the authority in the file `authority`.
  /// - Parameter bytes: the most that each keeps on disk.
  package init(tls: Bool = false, bytes: Int = 16_000_000_000) throws {
    server = try TestServer("nats_servers.py", "max_file=\(bytes)", tls ? "tls" : "plain")
  }

  /// Their addresses: `nats://127.0.0.1:PORT`, or `tls://localhost:PORT`.
  package var addresses: [String] { server["servers"].split(separator: ",").map(String.init) }
  package var token: String { server["token"] }
  package var authority: String { server["authority"] }

  /// Kills a server of 1 to 3 at once.
  package func kill(_ number: Int) throws { try server.tell("kill \(number)") }
  package func start(_ number: Int) throws { try server.tell("start \(number)") }
  /// Suspends a server, whose connections stay open.
  package func suspend(_ number: Int) throws { try server.tell("stop \(number)") }
  package func resume(_ number: Int) throws { try server.tell("continue \(number)") }
  /// Kills a server and empties its disk.
  package func empty(_ number: Int) throws { try server.tell("empty \(number)") }
  package func killAll() throws { try server.tell("kill all") }
  package func startAll() throws { try server.tell("start all") }
}
