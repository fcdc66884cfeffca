import Synchronization

/// How far the uploads or downloads in flight have come. Written by the callbacks of transfers, read by commands.
package final class PhotoProgress: Sendable {
  private let fractions = Mutex<[MessageID: Double]>([:])

  package init() {}

  /// By message: 0 to 1.
  package var all: [MessageID: Double] { fractions.withLock { $0 } }

  package func set(_ fraction: Double, of message: MessageID) { fractions.withLock { $0[message] = fraction } }
  package func end(_ message: MessageID) { fractions.withLock { $0[message] = nil } }
}
