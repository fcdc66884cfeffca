import Ledgers

/// What a pass of the janitor has done, or would do.
public struct JanitorReport: Sendable {
  /// Nothing was done: it only says what would be.
  public var isRehearsal = false
  /// Another janitor was at work, and nothing was done.
  public var isSkipped = false
  public var purged = PurgeCount()
  /// Conversations that are left to the running daemon to purge.
  public var leftToDaemon = 0
  public var evicted = EvictionCount()
  /// Entries of `tmp/`, drafts, requests with their receipts, failed requests together with what could not be received, and
  /// photos of others that were announced and not fetched.
  public var tmp = 0
  public var drafts = 0
  public var receipts = 0
  public var failed = 0
  public var announced = 0
  /// Photos whose files no row spoke of, and such as had no files; rows of which nothing was left.
  public var orphans = 0
  public var missing = 0
  public var rows = 0
  /// What a person should know.
  public var warnings = [String]()

  public init() {}

  /// Whether something was removed, or would be.
  public var hasWork: Bool {
    purged.conversations + tmp + drafts + receipts + failed + announced + orphans + missing + rows > 0
      || evicted != EvictionCount()
  }
}
