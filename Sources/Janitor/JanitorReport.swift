import Ledgers

/// The results of a janitor run.
package struct JanitorReport: Sendable {
  /// Nothing was changed.
  package var isRehearsal = false
  /// Another janitor was running, and nothing was done.
  package var isSkipped = false
  package var purged = PurgeCount()
  /// Conversations that the running daemon has to purge.
  package var leftToDaemon = 0
  package var evicted = EvictionCount()
  /// Removed entries of `tmp/`, drafts, requests with receipts, failed requests and incoming messages, and unfetched
  /// announcements.
  package var tmp = 0
  package var drafts = 0
  package var receipts = 0
  package var failed = 0
  package var announced = 0
  /// Photos with unknown files, photos with missing files, and deleted rows.
  package var orphans = 0
  package var missing = 0
  package var rows = 0
  /// Warnings for people.
  package var warnings = [String]()

  package init() {}

  /// Whether something was or would be removed.
  package var hasWork: Bool {
    purged.conversations + tmp + drafts + receipts + failed + announced + orphans + missing + rows > 0
      || evicted != EvictionCount()
  }
}
