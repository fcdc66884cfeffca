import Dispatch
import Glibc
import Synchronization

/// Ends a program and all its children, from any thread, and waits for it.
package final class ChildLeash: Sendable {
  private struct State {
    /// nil before the start and after the wait; then the number may be reused.
    var group: pid_t?
    /// The last signal sent, also before the start.
    var signal: Int32?
  }

  private let state: Mutex<State>

  /// - Parameter child: the number of a program from `ChildProgram.start`; nil before its start.
  package init(_ child: pid_t? = nil) { state = Mutex(State(group: child)) }

  /// nil before the start and after the wait.
  package var processID: pid_t? { state.withLock { $0.group } }

  package var wasPulled: Bool { state.withLock { $0.signal != nil } }

  /// Sends a signal to the program and its children. A program that is not started yet gets it then.
  package func pull(_ signal: Int32) {
    state.withLock { state in
      state.signal = signal
      if let group = state.group { kill(-group, signal) }
    }
  }

  /// Sends SIGTERM, and SIGKILL after `grace`.
  package func end(within grace: Duration) {
    pull(SIGTERM)
    DispatchQueue.global().asyncAfter(deadline: .now() + grace / .seconds(1)) { self.pullIfRunning(SIGKILL) }
  }

  private func pullIfRunning(_ signal: Int32) { if processID != nil { pull(signal) } }

  func attach(to group: pid_t) {
    state.withLock { state in
      state.group = group
      if let signal = state.signal { kill(-group, signal) }
    }
  }

  /// Waits until the program has ended. Blocks.
  ///
  /// - Parameter endsGroup: whether its remaining children are killed.
  /// - Returns: the status of `waitpid`; 0 if it was waited for before.
  @discardableResult
  package func wait(endsGroup: Bool = true) -> Int32 {
    guard let child = processID else { return 0 }
    var information = siginfo_t()
    while waitid(P_PID, id_t(child), &information, WEXITED | WNOWAIT) < 0 && errno == EINTR {}
    // The kernel reuses the number only after this wait, so no signal can hit another process.
    return state.withLock { state in
      guard let group = state.group else { return 0 }
      state.group = nil
      if endsGroup { kill(-group, SIGKILL) }
      var status: Int32 = 0
      while waitpid(group, &status, 0) < 0 && errno == EINTR {}
      return status
    }
  }
}
