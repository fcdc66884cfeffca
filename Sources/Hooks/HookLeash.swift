import Glibc
import Synchronization

/// What ends a program and all that it has started, from any thread.
final class HookLeash: Sendable {
  private struct State {
    /// nil before it was started and once it was waited for: from then on the number may be another's.
    var group: pid_t?
    /// What it was told before it was there.
    var early: Int32?
  }

  private let state = Mutex(State())

  func attach(to group: pid_t) {
    state.withLock { state in
      state.group = group
      if let signal = state.early { kill(-group, signal) }
    }
  }

  func pull(_ signal: Int32) {
    state.withLock { state in
      if let group = state.group { kill(-group, signal) } else { state.early = signal }
    }
  }

  /// Ends what a program that has ended has left behind, and takes its status.
  func detach() -> Int32 {
    state.withLock { state in
      guard let group = state.group else { return 0 }
      state.group = nil
      kill(-group, SIGKILL)
      var status: Int32 = 0
      while waitpid(group, &status, 0) < 0 && errno == EINTR {}
      return status
    }
  }
}
