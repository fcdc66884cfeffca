/// How much may be kept, and for how long.
public struct JanitorOptions: Sendable {
  /// Bytes of the cache that one inbox may have; beyond it its own photos go.
  public var inboxBytes = 500_000_000
  /// Bytes of the whole cache.
  public var totalBytes = 1_000_000_000
  /// Seconds that an entry of `tmp/` may be left alone.
  public var tmp = 36.0 * 3600
  /// Seconds that a draft may be left alone.
  public var drafts = 24.0 * 3600
  /// Seconds that a receipt is kept, and with it what the ledger knows of the request.
  public var receipts = 7.0 * 86_400
  /// Seconds that a failed request is kept, and what could not be received.
  public var failed = 30.0 * 86_400
  /// Seconds that a photo which others announced can be fetched, unless somebody wants it.
  public var announced = 90.0 * 86_400

  public init() {}
}
