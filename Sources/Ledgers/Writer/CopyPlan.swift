/// When the write-ahead log is copied into the ledger. A copy takes as long as several changes do, so that it is made while
/// nothing is asked for; and at once only where there is no pause and the log has become long.
struct CopyPlan {
  enum Step: Equatable {
    case nothing, afterPause, now
  }

  /// Changes after which the log is copied in the next pause. Each writes some ten pages, so that it is done as often as
  /// SQLite would do it, which does not tell when the disk fails there.
  static let dueAfter = 100
  /// Changes after which it is not waited for a pause.
  static let latestAfter = 150
  /// Seconds without a change that are a pause: longer than from one change of a request to the next.
  static let pause = 0.005
  /// Pages in the log, 8 MB, from which on it has to begin anew. By itself it does so when it was copied while nobody
  /// read; where somebody always reads, that never happens.
  static let longLog = 2_000

  private var changes = 0
  private var isWaiting = false
  private var hasChanged = false
  private var isClosed = false
  private var longAt = CopyPlan.longLog

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

  /// After a copy, with so many pages in the log.
  ///
  /// - Returns: whether those who read are to be waited for, so that the log begins anew. Once that was in vain it is asked
  ///   for only after as many pages more: somebody may read without end.
  mutating func copied(pages: Int) -> Bool {
    changes = 0
    if pages < Self.longLog { longAt = Self.longLog }
    guard pages >= longAt else { return false }
    longAt = pages + Self.longLog
    return true
  }

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
