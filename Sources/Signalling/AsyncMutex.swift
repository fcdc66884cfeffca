/// Lets one task at a time through, in the order in which they came. The task may suspend while it is inside.
package actor AsyncMutex {
  private var isTaken = false
  private var waiting: [CheckedContinuation<Void, Never>] = []

  package init() {}

  /// Runs `body` while no other task is inside.
  package func withLock<Answer: Sendable>(_ body: @Sendable () async throws -> Answer) async rethrows -> Answer {
    await enter()
    defer { leave() }
    return try await body()
  }

  private func enter() async {
    if !isTaken {
      isTaken = true
      return
    }
    await withCheckedContinuation { waiting.append($0) }
  }

  private func leave() {
    if waiting.isEmpty {
      isTaken = false
    } else {
      waiting.removeFirst().resume()
    }
  }
}
