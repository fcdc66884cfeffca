import NIOCore

/// Closes a channel whose peer has taken nothing for some time although there was something to take.
///
/// A browser that reads nothing would else hold a connection, or a stream of HTTP/2, and what it was to get, for ever.
final class StallGuard: ChannelOutboundHandler, RemovableChannelHandler {
  typealias OutboundIn = NIOAny
  typealias OutboundOut = NIOAny

  private let patience: TimeAmount
  /// Writes that are not taken yet.
  private var waiting = 0
  /// When the last write was taken, or the first of those that wait was made.
  private var progress = NIODeadline.distantPast
  private var watch: Scheduled<Void>?

  init(patience: TimeAmount) { self.patience = patience }

  func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
    if waiting == 0 { progress = .now() }
    waiting += 1
    let taken = promise ?? context.eventLoop.makePromise()
    taken.futureResult.assumeIsolated().whenComplete { [self] _ in
      waiting -= 1
      progress = .now()
    }
    if watch == nil { look(context, at: progress + patience) }
    context.write(data, promise: taken)
  }

  func handlerRemoved(context: ChannelHandlerContext) {
    watch?.cancel()
    watch = nil
  }

  private func look(_ context: ChannelHandlerContext, at time: NIODeadline) {
    watch = context.eventLoop.assumeIsolated().scheduleTask(deadline: time) { [self] in
      watch = nil
      guard waiting > 0 else { return }
      let end = progress + patience
      if end <= .now() { context.close(promise: nil) } else { look(context, at: end) }
    }
  }
}
