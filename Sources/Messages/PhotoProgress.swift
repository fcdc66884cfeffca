import Synchronization

/// The progress of running uploads or downloads. Transfer callbacks write it, commands read it.
package final class PhotoProgress: Sendable {
  private let fractions = Mutex<[MessageID: Double]>([:])

  package init() {}

  /// By message, 0 to 1.
  package var all: [MessageID: Double] { fractions.withLock { $0 } }

  package func set(_ fraction: Double, of message: MessageID) { fractions.withLock { $0[message] = fraction } }
  package func end(_ message: MessageID) { fractions.withLock { $0[message] = nil } }
}
