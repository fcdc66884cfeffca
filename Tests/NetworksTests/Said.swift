import Synchronization

/// Logged lines in order.
final class Said: Sendable {
  private struct State {
    var lines: [String] = []
    var waiting: [(words: String, CheckedContinuation<Void, Never>)] = []
  }

  private let state = Mutex(State())

  var lines: [String] { state.withLock { $0.lines } }

  func add(_ line: String) {
    let told = state.withLock { state in
      state.lines.append(line)
      defer { state.waiting.removeAll { line.contains($0.words) } }
      return state.waiting.filter { line.contains($0.words) }
    }
    for (_, continuation) in told { continuation.resume() }
  }

  /// Waits for a line with these words, and takes all lines up to now.
  @discardableResult func wait(for words: String) async -> [String] {
    await withCheckedContinuation { continuation in
      let wasSaid = state.withLock { state in
        if state.lines.contains(where: { $0.contains(words) }) { return true }
        state.waiting.append((words, continuation))
        return false
      }
      if wasSaid { continuation.resume() }
    }
    return state.withLock { state in
      defer { state.lines = [] }
      return state.lines
    }
  }
}
