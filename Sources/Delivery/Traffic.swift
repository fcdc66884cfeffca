import Synchronization

/// Whether something is being published, and whether its end is awaited.
final class Traffic: Sendable {
  private let state = Mutex((isGoingOn: false, isAwaited: false))

  /// - Returns: false when nothing is being published; else the next change to that is awaited.
  func awaitsEnd() -> Bool {
    state.withLock { state in
      state.isAwaited = state.isGoingOn
      return state.isGoingOn
    }
  }

  /// - Returns: whether that is what is awaited.
  func change(to isGoingOn: Bool) -> Bool {
    state.withLock { state in
      defer { state = (isGoingOn, state.isAwaited && isGoingOn) }
      return state.isAwaited && !isGoingOn
    }
  }
}
