import CCurl

/// Unused libcurl handles. Making one, with its buffers, costs as much as sending a short message. Owned by the
/// transfer thread.
final class EasyHandles {
  private var spare: [UnsafeMutableRawPointer] = []
  private let most: Int

  /// - Parameter most: the handles that are kept; some 20 kB each.
  init(keeping most: Int) { self.most = most }

  deinit { spare.forEach(ccurl_easy_free) }

  /// A fresh handle; nil without memory.
  func take() -> UnsafeMutableRawPointer? { spare.popLast() ?? ccurl_easy() }

  /// Takes back a handle that is in no multi handle, and resets it.
  func giveBack(_ easy: UnsafeMutableRawPointer) {
    guard spare.count < most else { return ccurl_easy_free(easy) }
    ccurl_easy_reset(easy)
    spare.append(easy)
  }
}
