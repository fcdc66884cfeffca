/// When the write-ahead log is copied into the ledger.
struct CheckpointPolicy {
  /// Changes after which the log is copied. Each writes some ten pages, so that it is copied about as often as by SQLite,
  /// which does not report a disk that fails there.
  static let changes = 100
  /// Pages in the log, 8 MB, from which on it has to restart. By itself it restarts when it was copied while nobody read,
  /// which never happens while somebody always reads.
  static let longLog = 2_000

  private var changes = 0
  private var longAt = CheckpointPolicy.longLog

  /// Whether the log is to be copied now.
  var isDue: Bool { changes >= Self.changes }

  /// After `count` changes more.
  mutating func committed(_ count: Int) { changes += count }

  /// After a copy, with so many pages in the log.
  ///
  /// - Returns: whether to wait for the readers, so that the log restarts. After a restart in vain it is asked for only after
  ///   as many pages more: somebody may read without end.
  mutating func copied(pages: Int) -> Bool {
    changes = 0
    if pages < Self.longLog { longAt = Self.longLog }
    guard pages >= longAt else { return false }
    longAt = pages + Self.longLog
    return true
  }
}
