import Synchronization

/// Lets one caller at a time work under a name, in order of arrival, without holding a thread.
final class KeyedMutex: Sendable {
  /// Waiting callers, by the name in use.
  private let waiting = Mutex<[String: [CheckedContinuation<Void, Never>]]>([:])

  func withLock<Answer, Failure: Error>(
    _ name: String, _ work: () async throws(Failure) -> Answer
  ) async throws(Failure) -> Answer {
    await begin(name)
    defer { end(name) }
    return try await work()
  }

  private func begin(_ name: String) async {
    await withCheckedContinuation { continuation in
      let isFree = waiting.withLock { waiting in
        if waiting[name]?.append(continuation) != nil { return false }
        waiting[name] = []
        return true
      }
      if isFree { continuation.resume() }
    }
  }

  private func end(_ name: String) {
    let next = waiting.withLock { waiting -> CheckedContinuation<Void, Never>? in
      if waiting[name]?.isEmpty == false { return waiting[name]?.removeFirst() }
      waiting[name] = nil
      return nil
    }
    next?.resume()
  }
}
