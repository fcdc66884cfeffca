import HTTPTypes
import Hummingbird
import HummingbirdCore
import Logging
import NIOCore
import NIOPosix
import Synchronization
import WebAccess

/// Serves HTTP/1.1 on a listening socket.
///
/// Hummingbird's `Application` cannot take a socket of a service manager, and keeps a clock of its own awake, so its
/// channel and router are used with this loop.
struct WebServer: Sendable {
  let socket: ListeningSocket
  let respond: @Sendable (Request, WebContext) async -> Response
  /// The time without a connection after which `run` returns; nil for never. A service manager starts the page again.
  let idleEnd: Duration?
  let log: Logger

  /// Connections at once.
  private static let connections = 256
  /// Seconds without a byte until a connection is closed.
  private static let patience = TimeAmount.seconds(30)
  /// Bytes of all header fields.
  private static let headers = 16 << 10

  /// Serves until the task is cancelled, or nobody connects for `idleEnd`.
  func run() async throws {
    let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    do { try await serve(on: group) } catch {
      try? await group.shutdownGracefully()
      throw error
    }
    try await group.shutdownGracefully()
  }

  private func serve(on group: MultiThreadedEventLoopGroup) async throws {
    let open = OpenConnections()
    let channel = HTTP1Channel(
      responder: { request, writer, channel in
        let context = WebContext(source: ApplicationRequestContextSource(channel: channel, logger: log))
        open.begin(channel)
        defer { open.end(channel) }
        if request.headers[.expect]?.lowercased() == "100-continue" {
          try await writer.writeInformationalHead(HTTPResponse(status: .continue))
        }
        let response = await respond(request, context)
        try await writer.write(response: response.head, body: response.body)
      },
      configuration: HTTP1Channel.Configuration(
        idleTimeout: Self.patience,
        httpDecoderConfiguration: HTTP1Channel.Configuration.DecoderConfiguration(
          maxHeaderFieldSize: Self.headers, maxHeaderListSize: Self.headers, maxHeaderFieldCount: 100)))
    let server = try await ServerBootstrap(group: group)
      .childChannelOption(ChannelOptions.allowRemoteHalfClosure, value: true)
      .bind(socket.descriptor) { channel.setup(channel: $0, logger: log) }
    let end = Task { [idleEnd] in
      guard let idleEnd else { return }
      while let rest = open.rest(of: idleEnd) { try await Task.sleep(for: rest) }
      // New connections wait in the socket for the next process.
      try await server.channel.close()
    }
    defer { end.cancel() }
    try await server.executeThenClose { connections in
      try await withThrowingDiscardingTaskGroup { group in
        for try await connection in connections {
          group.addTask {
            guard open.enter(connection.channel, limit: Self.connections) else {
              return try await connection.executeThenClose { _, _ in }
            }
            await channel.handle(value: connection, logger: log)
            open.leave(connection.channel)
          }
        }
      }
    }
  }
}

/// The open connections, and since when there are none.
private final class OpenConnections: Sendable {
  private struct Connection {
    let channel: any Channel
    /// Since when it is between two requests, or before the first; nil while one is answered.
    var idleSince: ContinuousClock.Instant?
  }

  private let state = Mutex((connections: [ObjectIdentifier: Connection](), since: ContinuousClock.now))

  /// Counts one more. If there are `limit` already, the one that has been idle for the longest time makes room.
  ///
  /// - Returns: false if all are busy.
  func enter(_ channel: any Channel, limit: Int) -> Bool {
    state.withLock { state in
      if state.connections.count >= limit {
        let idle = state.connections.compactMap { id, connection in connection.idleSince.map { (id, $0) } }
        guard let oldest = idle.min(by: { $0.1 < $1.1 }) else { return false }
        state.connections.removeValue(forKey: oldest.0)?.channel.close(promise: nil)
      }
      state.connections[ObjectIdentifier(channel)] = Connection(channel: channel, idleSince: .now)
      return true
    }
  }

  func leave(_ channel: any Channel) {
    state.withLock { state in
      state.connections[ObjectIdentifier(channel)] = nil
      state.since = .now
    }
  }

  /// A request is being answered.
  func begin(_ channel: any Channel) {
    state.withLock { $0.connections[ObjectIdentifier(channel)]?.idleSince = nil }
  }

  func end(_ channel: any Channel) {
    state.withLock { $0.connections[ObjectIdentifier(channel)]?.idleSince = .now }
  }

  /// How long to wait until there may have been no connection for `idle`; nil if there was none for that long.
  func rest(of idle: Duration) -> Duration? {
    state.withLock { state in
      if !state.connections.isEmpty { return idle }
      let rest = idle - (.now - state.since)
      return rest > .zero ? rest : nil
    }
  }
}
