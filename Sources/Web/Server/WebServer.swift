import HTTPTypes
import Hummingbird
import HummingbirdCore
import HummingbirdHTTP2
import Logging
import NIOCore
import NIOPosix
import NIOSSL
import Synchronization
import WebAccess

/// Serves HTTP/1.1 on a listening socket or, with a certificate, HTTP/2 and HTTP/1.1 over TLS.
///
/// Hummingbird's `Application` cannot take a socket of a service manager, and keeps a clock of its own awake, so its
/// channels and router are used with this loop.
struct WebServer: Sendable {
  let socket: ListeningSocket
  /// nil for no TLS.
  let certificate: CertificateFiles?
  let respond: @Sendable (Request, WebContext) async -> Response
  /// The time without a connection after which `run` returns; nil for never. A service manager starts the page again.
  let idleEnd: Duration?
  let log: Logger

  /// Connections at once.
  private static let connections = 256
  /// Without a byte from a browser that is to send something, or without one taken that is to take something, a
  /// connection or a stream is closed.
  private static let patience = TimeAmount.seconds(30)
  /// Without a byte in either direction, a connection is closed.
  private static let silence = TimeAmount.seconds(60)
  /// Bytes that are read at once: large pieces for uploads, little memory for other connections.
  private static let pieces = AdaptiveRecvByteBufferAllocator(minimum: 1 << 10, initial: 2 << 10, maximum: 256 << 10)
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
    let answer: HTTPChannelHandler.Responder = { request, writer, channel in
      var context = WebContext(source: ApplicationRequestContextSource(channel: channel, logger: log))
      context.peer = open.begin(channel)
      defer { open.end(channel) }
      if request.headers[.expect]?.lowercased() == "100-continue" {
        try await writer.writeInformationalHead(HTTPResponse(status: .continue))
      }
      let response = await respond(request, context)
      try await writer.write(response: response.head, body: response.body)
    }
    let http = HTTP1Channel.Configuration(
      additionalChannelHandlers: [StallGuard(patience: Self.patience)], idleTimeout: Self.patience,
      httpDecoderConfiguration: HTTP1Channel.Configuration.DecoderConfiguration(
        maxHeaderFieldSize: Self.headers, maxHeaderListSize: Self.headers, maxHeaderFieldCount: 100))
    guard let certificate else {
      let channel = HTTP1Channel(responder: answer, configuration: http)
      return try await serve(on: group, open) { channel }
    }
    let secure = { @Sendable (configuration: TLSConfiguration) throws in
      try HTTP2UpgradeChannel(
        tlsConfiguration: configuration,
        configuration: HTTP2ChannelConfiguration(
          idleTimeout: .seconds(30), gracefulCloseTimeout: .seconds(30), streamConfiguration: http),
        responder: answer)
    }
    let current = Mutex(try secure(certificate.configuration))
    try await serve(on: group, open) {
      do {
        if let new = try certificate.change() {
          let channel = try secure(new)
          current.withLock { $0 = channel }
          log.notice("certificate replaced")
        }
      } catch { log.error("the former certificate stays", metadata: ["error": "\(error)"]) }
      return current.withLock(\.self)
    }
  }

  /// Accepts connections, each with what `channel` is then.
  private func serve<Protocols: ServerChildChannel>(
    on group: MultiThreadedEventLoopGroup, _ open: OpenConnections, channel: @escaping @Sendable () -> Protocols
  ) async throws {
    let hasTLS = certificate != nil
    let server = try await ServerBootstrap(group: group)
      .childChannelOption(.recvAllocator, value: Self.pieces)
      // A browser that ends TLS has ended its connection.
      .childChannelOption(ChannelOptions.allowRemoteHalfClosure, value: !hasTLS)
      .bind(socket.descriptor) { connection in
        connection.eventLoop.makeCompletedFuture {
          try connection.pipeline.syncOperations.addHandlers(
            IdleStateHandler(allTimeout: Self.silence), SilenceEnd(), StallGuard(patience: Self.patience))
        }.flatMap {
          let channel = channel()
          return channel.setup(channel: connection, logger: log).map { (channel, $0) }
        }
      }
    let end = Task { [idleEnd] in
      guard let idleEnd else { return }
      while let rest = open.rest(of: idleEnd) { try await Task.sleep(for: rest) }
      // New connections wait in the socket for the next process.
      try await server.channel.close()
    }
    defer { end.cancel() }
    try await server.executeThenClose { connections in
      try await withThrowingDiscardingTaskGroup { group in
        for try await (channel, connection) in connections {
          group.addTask {
            let isOpen = open.enter(connection.channel, limit: Self.connections)
            if !isOpen { connection.channel.close(promise: nil) }
            // A closed connection ends at once.
            await channel.handle(value: connection, logger: log)
            if isOpen { open.leave(connection.channel) }
          }
        }
      }
    }
  }
}

/// Closes a connection on which nothing has happened for as long as `IdleStateHandler` permits.
private final class SilenceEnd: ChannelInboundHandler {
  typealias InboundIn = NIOAny

  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    if event is IdleStateHandler.IdleStateEvent { return context.close(promise: nil) }
    context.fireUserInboundEventTriggered(event)
  }
}

/// The open connections, and since when there are none.
final class OpenConnections: Sendable {
  private struct Connection {
    let channel: any Channel
    let peer = PeerUser()
    /// Requests that are answered now; HTTP/2 has several at once.
    var requests = 0
    /// Since when it is between two requests, or before the first.
    var idleSince = ContinuousClock.now
  }

  private let state = Mutex((connections: [ObjectIdentifier: Connection](), since: ContinuousClock.now))

  /// Counts one more. If there are `limit` already, the one that has been idle for the longest time makes room.
  ///
  /// - Returns: false if all are busy.
  func enter(_ channel: any Channel, limit: Int) -> Bool {
    state.withLock { state in
      if state.connections.count >= limit {
        let idle = state.connections.filter { $1.requests == 0 }
        guard let oldest = idle.min(by: { $0.value.idleSince < $1.value.idleSince }) else { return false }
        state.connections.removeValue(forKey: oldest.key)?.channel.close(promise: nil)
      }
      state.connections[ObjectIdentifier(channel)] = Connection(channel: channel)
      return true
    }
  }

  func leave(_ channel: any Channel) {
    state.withLock { state in
      state.connections[ObjectIdentifier(channel)] = nil
      state.since = .now
    }
  }

  /// Counts a request on a connection, or on a stream of one. Returns who is at its other end.
  func begin(_ channel: any Channel) -> PeerUser {
    var peer: PeerUser?
    change(channel) {
      $0.requests += 1
      peer = $0.peer
    }
    return peer ?? PeerUser()
  }

  func end(_ channel: any Channel) {
    change(channel) {
      $0.requests -= 1
      $0.idleSince = .now
    }
  }

  private func change(_ channel: any Channel, _ change: (inout Connection) -> Void) {
    state.withLock { state in
      // The parent of a connection is the listening socket, which is none.
      for id in [ObjectIdentifier(channel)] + (channel.parent.map { [ObjectIdentifier($0)] } ?? []) {
        guard var connection = state.connections[id] else { continue }
        change(&connection)
        state.connections[id] = connection
      }
    }
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
