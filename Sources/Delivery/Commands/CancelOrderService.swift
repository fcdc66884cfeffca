import Blocking
import Foundation
import Logging
import ServiceLifecycle
import Signalling
import Spooling

/// Cancels the requests named in files of `cancel/`, and removes each file after that.
struct CancelOrderService: Service, HasCore {
  let core: DeliveryCore
  let commands: CommandHandler
  private let pool = BlockingPool(label: "cancel", threads: 1)
  /// Files already reported as unreadable.
  private let told = InForce<[String]>([])

  func run() async throws {
    await signals.spool.cancel.serve {
      try await carryOut()
    } failed: { error in
      log.error("requests are not cancelled for now", metadata: ["error": "\(error)"])
      return 1
    }
  }

  private func carryOut() async throws {
    let (found, unreadable) = try await pool.run { [spool] in try OrderFile.all(in: spool.cancel) }
    if told.replace(with: unreadable) != unreadable {
      for file in unreadable { log.warning("a file of cancel/ is passed over", metadata: ["file": "\(file)"]) }
    }
    for order in found where !Task.isShuttingDownGracefully {
      let requests = order.lines.map { $0.trimmingCharacters(in: .whitespaces) }
      var isDone = await cancel(requests)
      if !isDone {
        // Another request's failure must not stop the rest.
        isDone = true
        for request in requests where await !cancel([request]) { isDone = false }
      }
      // After an error the order is repeated, which is harmless.
      if isDone { try order.remove(from: spool.cancel, of: spool) } else { signals.spool.cancel.ring(in: 10) }
    }
  }

  /// Cancels requests together; false after an error, which is logged if it concerns one alone.
  private func cancel(_ requests: [String]) async -> Bool {
    let reply = await commands.perform(.cancel(requests))
    if reply.error == nil || requests.count == 1 { log.note(.cancel(requests), reply) }
    return reply.error == nil
  }
}
