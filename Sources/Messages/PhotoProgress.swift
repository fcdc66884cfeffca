import Synchronization

/// How far the uploads or downloads in flight have come. Written by the callbacks of transfers, read by commands.
public final class PhotoProgress: Sendable {
  private let fractions = Mutex<[MessageID: Double]>([:])

  public init() {}

  /// By message: 0 to 1.
  public var all: [MessageID: Double] { fractions.withLock { $0 } }

  public func set(_ fraction: Double, of message: MessageID) { fractions.withLock { $0[message] = fraction } }
  public func end(_ message: MessageID) { fractions.withLock { $0[message] = nil } }
}
