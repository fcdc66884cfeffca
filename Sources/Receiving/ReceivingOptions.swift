import HTTP
import Messages

/// What the configuration decides about receiving.
public struct ReceivingOptions: Sendable {
  /// The inbox of what a bridge drops without one.
  public var inbox = InboxID(unchecked: "default")
  /// What is fetched where a conversation's preferences say nothing.
  public var fetch = FetchPolicy.known
  /// Bytes of a photo.
  public var photoBytes = 10_000_000
  /// Photos that are fetched at the same time.
  public var downloads = 4
  /// Photos that are fetched from one host at the same time.
  public var perHost = 2
  /// Connect and stall limits of every request, and how long the whole of one may take.
  public var limits = HTTPLimits()
  /// Seconds after which a photo that cannot be had fails.
  public var lifetime: Double = 86_400
  /// Whether photos may lie in private networks and behind plain `http://`.
  public var allowsPrivateAddresses = false
  public var retry = RetryPolicy()
  /// Seconds until what needs mending here is tried again.
  public var mending: Double = 300
  /// Seconds that a stored photo can be fetched again, counted from its receipt.
  public var remoteSeconds = 30.0 * 86_400
  /// Seconds that an entry built in place in `incoming/new/` must have been left alone.
  public var settle: Double = 5

  public init() { limits.total = 300 }

  /// Bytes of an object: the photo, its envelope and its seal.
  var objectBytes: Int { photoBytes + 65_536 }
}
