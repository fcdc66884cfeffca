import CKernel
import Ledgers
import Logging
import ServiceLifecycle
import Signalling
import Synchronization

/// Gives memory back once the daemon has had nothing to do for a while: what is only held to be quick. Nothing runs
/// while it rests, and nothing but a look every few seconds while it works.
struct Rest: Service {
  /// In which nothing is done.
  private static let quiet = Duration.seconds(10)

  let ledger: Ledger
  let log: Logger
  private let bell = Bell()
  private let changes = Changes()

  private final class Changes: Sendable {
    private let begin = ContinuousClock.now
    private let last = Atomic<Int64>(0)
    let areAwaited = Atomic<Bool>(false)

    func tell() {
      last.store(Int64((ContinuousClock.now - begin) / .milliseconds(1)), ordering: .relaxed)
    }

    /// How long nothing has changed by now.
    var age: Duration { ContinuousClock.now - begin - .milliseconds(last.load(ordering: .relaxed)) }
  }

  init(ledger: Ledger, log: Logger) {
    self.ledger = ledger
    self.log = log
  }

  /// Says that something was done, though it need not have changed the ledger.
  func wake() {
    changes.tell()
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
    while !Task.isShuttingDownGracefully {
      let age = changes.age
      if age >= Self.quiet { return true }
      do { try await cancelWhenGracefulShutdown { try await Task.sleep(for: Self.quiet - age) } } catch { return false }
    }
    return false
  }
}
