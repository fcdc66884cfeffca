/// Lets one at a time through, in the order in which they came.
actor AsyncMutex {
  private var isTaken = false
  private var waiting: [CheckedContinuation<Void, Never>] = []

  /// Runs `body` while nobody else is inside.
  func withLock<Answer: Sendable>(_ body: @Sendable () async throws -> Answer) async throws -> Answer {
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
