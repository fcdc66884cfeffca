import Signalling
import Spooling
import Synchronization

/// Where the watcher's thread leaves what it saw for intake. Bounded: beyond its limit names are dropped and a scan is
/// asked for instead.
final class ArrivalMailbox: Sendable {
  /// What was seen since the last `take`.
  struct Contents: Sendable {
    /// In the order in which the kernel saw the renames.
    var arrived: [String] = []
    var builtInPlace: [String] = []
    var cancelRequested = false
    var needsScan = false
    var hasVanished = false
  }

  private struct State {
    var contents = Contents()
    var lastFence = 0
    var fences: [(number: Int, waiter: CheckedContinuation<Bool, Never>)] = []
  }

  /// Names held; as many as the kernel's own queue.
  private static let limit = 16_384

  let bell = Bell()
  private let state = Mutex(State())

  /// Called on the watcher's thread.
  func post(_ event: SpoolEvent) {
    let passed = state.withLock { state -> [CheckedContinuation<Bool, Never>] in
      switch event {
      case .arrived(let name):
        if state.contents.arrived.count < Self.limit {
          state.contents.arrived.append(name)
        } else {
          state.contents.needsScan = true
        }
      case .builtInPlace(let name):
        if state.contents.builtInPlace.count < Self.limit { state.contents.builtInPlace.append(name) }
      // Told to those who purge.
      case .purgeRequested: break
      case .cancelRequested: state.contents.cancelRequested = true
      case .overflow: state.contents.needsScan = true
      case .vanished: state.contents.hasVanished = true
      // Told to those who look after drafts.
      case .draftChanged, .draftBuiltInPlace: break
      // Told to those who receive.
      case .received, .receivedInPlace: break
      case .fence(let name):
        state.lastFence = max(state.lastFence, Int(name) ?? 0)
        let passed = state.fences.filter { $0.number <= state.lastFence }.map(\.waiter)
        state.fences.removeAll { $0.number <= state.lastFence }
        return passed
      }
      return []
    }
    for waiter in passed { waiter.resume(returning: true) }
    bell.ring()
  }

  /// Posts `event` in `seconds`.
  func post(_ event: SpoolEvent, in seconds: Double) {
    Task { [weak self] in
      try await Task.sleep(for: .seconds(seconds))
      self?.post(event)
    }
  }

  /// Empties the mailbox.
  func take() -> Contents {
    state.withLock { state in
      defer { state.contents = Contents() }
      return state.contents
    }
  }

  /// Waits until everything before the fence was posted; false when the watcher does not tell it within `seconds`.
  func pass(fence: Int, within seconds: Double) async -> Bool {
    let timeout = Task { [weak self] in
      try await Task.sleep(for: .seconds(seconds))
      self?.giveUp(fence: fence)
    }
    defer { timeout.cancel() }
    return await withCheckedContinuation { continuation in
      let isPassed = state.withLock { state in
        if state.lastFence >= fence { return true }
        state.fences.append((fence, continuation))
        return false
      }
      if isPassed { continuation.resume(returning: true) }
    }
  }

  private func giveUp(fence: Int) {
    let waiters = state.withLock { state in
      defer { state.fences.removeAll { $0.number == fence } }
      return state.fences.filter { $0.number == fence }.map(\.waiter)
    }
    for waiter in waiters { waiter.resume(returning: false) }
  }
}
