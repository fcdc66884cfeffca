import Ledgers

/// What a pass of the janitor has done, or would do.
package struct JanitorReport: Sendable {
  /// Nothing was done: it only says what would be.
  package var isRehearsal = false
  /// Another janitor was at work, and nothing was done.
  package var isSkipped = false
  package var purged = PurgeCount()
  /// Conversations that are left to the running daemon to purge.
  package var leftToDaemon = 0
  package var evicted = EvictionCount()
  /// Entries of `tmp/`, drafts, requests with their receipts, failed requests together with what could not be received, and
  /// photos of others that were announced and not fetched.
  package var tmp = 0
  package var drafts = 0
  package var receipts = 0
  package var failed = 0
  package var announced = 0
  /// Photos whose files no row spoke of, and such as had no files; rows of which nothing was left.
  package var orphans = 0
  package var missing = 0
  package var rows = 0
  /// What a person should know.
  package var warnings = [String]()

  package init() {}

  /// Whether something was removed, or would be.
  package var hasWork: Bool {
    purged.conversations + tmp + drafts + receipts + failed + announced + orphans + missing + rows > 0
      || evicted != EvictionCount()
  }
}
