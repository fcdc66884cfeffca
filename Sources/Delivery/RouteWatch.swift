import CKernel
import Dispatch
import Glibc
import Logging
import ServiceLifecycle
import Signalling

/// Tells when the kernel reports a change of interfaces, addresses or routes: a line that is back is used at once, and
/// not only with the next probe. Nothing runs while nothing changes.
struct RouteWatch: Service {
  let log: Logger
  /// The socket that becomes readable with each change, or -1 with `errno`.
  var open: @Sendable () -> Int32 = { ckernel_watch_routes() }
  let changed: @Sendable () async -> Void

  func run() async throws {
    let socket = open()
    guard socket >= 0 else {
      log.info("changes of the network are not reported; probes find them", metadata: ["error": "\(errno)"])
      try? await gracefulShutdown()
      return
    }
    let bell = Bell()
    let source = DispatchSource.makeReadSource(fileDescriptor: socket, queue: DispatchQueue(label: "routes"))
    source.setEventHandler { if ckernel_drain(socket) != 0 { bell.ring() } }
    source.setCancelHandler { close(socket) }
    source.resume()
    await withGracefulShutdownHandler {
      for await _ in bell.rings { await changed() }
    } onGracefulShutdown: {
      bell.retire()
    }
    source.cancel()
  }
}
