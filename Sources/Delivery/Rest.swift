import CKernel
import Ledgers
import Logging
import ServiceLifecycle
import Synchronization

/// Gives memory back once the daemon has had nothing to do for a while: what is only held to be quick. Nothing runs
/// while it rests, and nothing but a look every few seconds while it works.
struct Rest: Service {
  /// Seconds in which nothing is done.
  private static let quiet = 10.0

  let ledger: Ledger
  let log: Logger
  private let bell = Bell()
  private let changes = Changes()

  private final class Changes: Sendable {
    let count = Atomic<Int>(0)
    let areAwaited = Atomic<Bool>(false)
  }

  init(ledger: Ledger, log: Logger) {
    self.ledger = ledger
    self.log = log
  }

  /// Says that something was done, though it need not have changed the ledger.
  func wake() {
    changes.count.add(1, ordering: .relaxed)
    if changes.areAwaited.exchange(false, ordering: .relaxed) { bell.ring() }
  }

  func run() async throws {
    ledger.onCommit { [self] in wake() }
    bell.ring()
    await withGracefulShutdownHandler {
      for await _ in bell.rings where await hasBecomeQuiet() {
        changes.areAwaited.store(true, ordering: .relaxed)
        do { try await ledger.rest() } catch {
          log.debug("the ledger keeps its memory", metadata: ["error": "\(error)"])
        }
        ckernel_rest()
      }
    } onGracefulShutdown: {
      bell.retire()
    }
  }

  /// Waits until nothing has changed for a while; false when the daemon stops meanwhile.
  private func hasBecomeQuiet() async -> Bool {
    var seen: Int
    repeat {
      seen = changes.count.load(ordering: .relaxed)
      do { try await cancelWhenGracefulShutdown { try await Task.sleep(for: .seconds(Self.quiet)) } } catch {
        return false
      }
    } while changes.count.load(ordering: .relaxed) != seen && !Task.isShuttingDownGracefully
    return !Task.isShuttingDownGracefully
  }
}
