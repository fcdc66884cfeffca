/// When the write-ahead log is copied into the ledger. A copy takes as long as several changes do, so that it is made while
/// nothing is asked for; and at once only where there is no pause and the log has become long.
struct CopyPlan {
  enum Step: Equatable {
    case nothing, afterPause, now
  }

  /// Changes after which the log is copied in the next pause. Each writes some ten pages, so that it is done as often as
  /// SQLite would do it, which does not tell when the disk fails there.
  static let dueAfter = 100
  /// Changes after which it is not waited for a pause: the log holds some 16 MB then.
  static let latestAfter = 400
  /// Seconds without a change that are a pause: longer than from one change of a request to the next.
  static let pause = 0.005

  private var changes = 0
  private var isWaiting = false
  private var hasChanged = false
  private var isClosed = false

  /// After `count` changes more.
  mutating func committed(_ count: Int) -> Step {
    changes += count
    hasChanged = true
    if changes >= Self.latestAfter { return .now }
    guard changes >= Self.dueAfter, !isWaiting, !isClosed else { return .nothing }
    return wait()
  }

  /// After `pause` seconds that were waited for.
  mutating func waited() -> Step {
    isWaiting = false
    guard changes >= Self.dueAfter, !isClosed else { return .nothing }
    return hasChanged ? wait() : .now
  }

  mutating func copied() { changes = 0 }

  /// From here on nothing is copied but by the one that closes.
  mutating func close() { isClosed = true }

  /// Whether the copy that a pause was waited for is still to be made.
  var isDue: Bool { changes >= Self.dueAfter && !isClosed }

  private mutating func wait() -> Step {
    isWaiting = true
    hasChanged = false
    return .afterPause
  }
}
