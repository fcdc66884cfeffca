/// Bytes of the photo cache that are allowed.
public struct CacheLimits: Sendable, Equatable {
  public let inbox: Int
  public let total: Int

  public init(inbox: Int, total: Int) {
    self.inbox = inbox
    self.total = total
  }
}
