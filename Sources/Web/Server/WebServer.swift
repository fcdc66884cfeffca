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

  /// Connections at once; more are closed at once.
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
    let channel = HTTP1Channel(
      responder: { request, writer, channel in
        let context = WebContext(source: ApplicationRequestContextSource(channel: channel, logger: log))
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
    let open = OpenConnections()
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
          guard open.enter(limit: Self.connections) else {
            connection.channel.close(promise: nil)
            continue
          }
          group.addTask {
            await channel.handle(value: connection, logger: log)
            open.leave()
          }
        }
      }
    }
  }
}

/// The open connections, and since when there are none.
private final class OpenConnections: Sendable {
  private let state = Mutex((count: 0, since: ContinuousClock.now))

  /// Counts one more; false if there are `limit` already.
  func enter(limit: Int) -> Bool {
    state.withLock { state in
      if state.count >= limit { return false }
      state.count += 1
      return true
    }
  }

  func leave() {
    state.withLock { state in
      state.count -= 1
      state.since = .now
    }
  }

  /// How long to wait until there may have been no connection for `idle`; nil if there was none for that long.
  func rest(of idle: Duration) -> Duration? {
    state.withLock { state in
      if state.count > 0 { return idle }
      let rest = idle - (.now - state.since)
      return rest > .zero ? rest : nil
    }
  }
}
