import Ledgers

/// The results of a janitor run, as `janitor --json` prints them. Keys are never renamed once released.
package struct JanitorReport: Sendable, Equatable, Encodable {
  package struct Removed: Sendable, Equatable, Encodable {
    /// Entries of `tmp/`.
    package var tmp = 0
    package var drafts = 0
    /// Finished requests with their receipts.
    package var receipts = 0
    /// Failed requests and incoming messages.
    package var failed = 0
    /// Unfetched announcements.
    package var announced = 0
    /// Photos with files that no row knows.
    package var orphans = 0
    /// Rows of photos without files.
    package var rows = 0
  }

  /// Nothing was changed.
  package var dryRun = false
  /// Another janitor was running, and nothing was done.
  package var skipped = false
  package var evicted = EvictionCount()
  package var purged = PurgeCount()
  package var removed = Removed()
  /// Photos with missing files.
  package var recounted = 0
  /// Warnings for people.
  package var warnings = [String]()

  package init(dryRun: Bool = false) { self.dryRun = dryRun }
}
