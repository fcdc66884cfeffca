import Messages

/// What the configuration decides about delivery.
public struct DeliveryOptions: Sendable {
  /// The inbox of requests that name none.
  public var inbox = InboxID(unchecked: "default")
  /// Seconds between two looks into `new/` that need no event.
  public var rescan: Double = 30
  /// Seconds that an entry built in place in `new/` must have been left alone.
  public var settle: Double = 5
  /// Conversations of each network and store that are served at the same time.
  public var conversations = 256
  /// Photos of one conversation that are prepared and uploaded ahead of the message being published.
  public var lookahead = 4
  /// Photos of each store that are in memory at the same time, being prepared or uploaded. At most half of them are of
  /// one conversation.
  public var uploads = 8
  /// Seconds after which a request that has not gone out fails.
  public var lifetime: Double = 5 * 86_400
  public var retry = RetryPolicy()
  /// Seconds that a stop waits for what is in hand, before it is cut off; nil is for as long as it takes.
  public var stopSeconds: Double? = 3
  public var circuits = CircuitPolicy()
  /// Seconds after its upload until a stored photo counts as gone.
  public var remoteSeconds: Double = 30 * 86_400
  /// The file that metrics are written to; nil is none.
  public var textfile: String?
  /// Seconds between two reports of metrics and status, at least.
  public var reportPause = 15.0

  /// Bytes of the photo cache that an inbox, and all of them, may have. The janitor sees to it; here it is only told.
  public var cacheLimits = CacheLimits(inbox: 500_000_000, total: 1_000_000_000)

  public init() {}

  /// Seconds that a message waits after its attempt failed. A destination that refuses it has to be mended first.
  func delay(after error: DeliveryError, of destination: String?, attempt: Int) -> Double {
    destination != nil && error.cause.disposition == .hold
      ? circuits.mending : retry.delay(after: error, attempt: attempt, random: .random(in: 0...1))
  }
}
