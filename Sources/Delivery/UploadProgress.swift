import Messages
import Synchronization

/// How far the uploads in flight have come. Written by the store's callbacks, read by commands.
final class UploadProgress: Sendable {
  private let fractions = Mutex<[MessageID: Double]>([:])

  /// By message: 0 to 1.
  var all: [MessageID: Double] { fractions.withLock { $0 } }

  func set(_ fraction: Double, of message: MessageID) { fractions.withLock { $0[message] = fraction } }
  func end(_ message: MessageID) { fractions.withLock { $0[message] = nil } }
}
