/// A number of places that tasks take and give back, first come, first served.
actor Slots {
  private var free: Int
  private var waiting: [CheckedContinuation<Void, Never>] = []

  init(_ count: Int) { free = max(1, count) }

  /// Runs `body` once a place is free, and gives the place back.
  nonisolated func with<Result: Sendable>(_ body: @Sendable () async throws -> Result) async throws -> Result {
    await take()
    do {
      try Task.checkCancellation()
      let result = try await body()
      await giveBack()
      return result
    } catch {
      await giveBack()
      throw error
    }
  }

  private func take() async {
    if free > 0 {
      free -= 1
    } else {
      await withCheckedContinuation { waiting.append($0) }
    }
  }

  private func giveBack() {
    if waiting.isEmpty {
      free += 1
    } else {
      waiting.removeFirst().resume()
    }
  }
}
