import Synchronization

/// Lets one caller at a time work under a name, in the order in which they came, without holding a thread.
final class KeyedMutex: Sendable {
  /// By name that is being worked under: who waits for it.
  private let waiting = Mutex<[String: [CheckedContinuation<Void, Never>]]>([:])

  /// Waits for its turn; `end` gives it to the next.
  func begin(_ name: String) async {
    await withCheckedContinuation { continuation in
      let isFree = waiting.withLock { waiting in
        if waiting[name] != nil {
          waiting[name]?.append(continuation)
          return false
        }
        waiting[name] = []
        return true
      }
      if isFree { continuation.resume() }
    }
  }

  func end(_ name: String) {
    let next = waiting.withLock { waiting in
      guard let queue = waiting[name], let next = queue.first else {
        waiting[name] = nil
        return CheckedContinuation<Void, Never>?.none
      }
      waiting[name] = Array(queue.dropFirst())
      return next
    }
    next?.resume()
  }
}
