import Synchronization

/// Tells work on another thread that its task was cancelled.
final class CancelFlag: Sendable {
  private let flag = Atomic<Bool>(false)

  func set() { flag.store(true, ordering: .releasing) }

  func check() throws {
    if flag.load(ordering: .acquiring) { throw CancellationError() }
  }
}
