import CCurl

/// libcurl's handles that no transfer has. To make one, with its buffers, takes as long as to send a short message. It belongs
/// to the transfers' thread.
final class EasyHandles {
  private var spare: [UnsafeMutableRawPointer] = []
  private let most: Int

  /// - Parameter most: handles that are kept; some 20 kB each.
  init(keeping most: Int) { self.most = most }

  deinit { spare.forEach(ccurl_easy_free) }

  /// One that knows of no transfer before; nil when there is no memory.
  func take() -> UnsafeMutableRawPointer? { spare.popLast() ?? ccurl_easy() }

  /// Takes back a handle that is in no multi handle any more. It forgets what it was told.
  func giveBack(_ easy: UnsafeMutableRawPointer) {
    guard spare.count < most else { return ccurl_easy_free(easy) }
    ccurl_easy_reset(easy)
    spare.append(easy)
  }
}
