/// When to copy the write-ahead log into the ledger.
struct CheckpointPolicy {
  /// Changes between two copies. Each writes some ten pages, so this is about as often as SQLite would copy by itself,
  /// but SQLite does not report disk errors there.
  static let changes = 100
  /// Pages in the log, 8 MB, from which on it must restart. It restarts by itself after a copy without readers, which
  /// may never happen.
  static let longLog = 2_000

  private var changes = 0
  private var longAt = CheckpointPolicy.longLog

  var isDue: Bool { changes >= Self.changes }

  mutating func committed(_ count: Int) { changes += count }

  /// Records a copy with `pages` in the log. Returns whether to wait for readers, so that the log restarts. After a
  /// failed restart it asks again only after as many pages more, because somebody may read without end.
  mutating func copied(pages: Int) -> Bool {
    changes = 0
    if pages < Self.longLog { longAt = Self.longLog }
    guard pages >= longAt else { return false }
    longAt = pages + Self.longLog
    return true
  }
}
