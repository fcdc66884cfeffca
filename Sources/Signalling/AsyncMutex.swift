/// Lets one task in at a time, in the order of arrival. The task may suspend inside.
package actor AsyncMutex {
  private var isTaken = false
  private var waiting: [CheckedContinuation<Void, Never>] = []

  package init() {}

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
