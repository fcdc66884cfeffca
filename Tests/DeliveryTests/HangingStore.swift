import Messages
import Stores
import TestSupport

/// A store that never answers, and counts its uploads.
actor HangingStore: Store {
  nonisolated let name = "hanging"
  private(set) var hanging = 0
  private var waiters: [(Int, CheckedContinuation<Void, Never>)] = []

  func put(
    _ object: ObjectName, _ bytes: [UInt8], contentType: String, progress: @escaping @Sendable (Double) -> Void
  ) async throws(DeliveryError) -> String {
    hanging += 1
    for (_, waiter) in waiters.filter({ $0.0 <= hanging }) { waiter.resume() }
    waiters.removeAll { $0.0 <= hanging }
    // It never ends, because nothing is added to it.
    let (never, end) = AsyncStream.makeStream(of: Void.self)
    for await _ in never {}
    end.finish()
    throw DeliveryError(.cancelled, "the upload was cancelled")
  }

  func delete(_ object: ObjectName) {}

  func check() -> String { "as told" }

  /// Returns after `count` uploads have begun.
  func wait(for count: Int) async {
    if hanging >= count { return }
    await withCheckedContinuation { waiters.append((count, $0)) }
  }
}
