import Synchronization

/// Events of one directory, for the service that looks after it. Posting returns at once, on any thread.
///
/// The mailbox is bounded: beyond its limit it drops the names and asks for a scan instead.
public final class Mailbox: Sendable {
  /// The events since the last `take`.
  public struct Contents: Sendable {
    /// Entries that were renamed into the directory or out of it, in the order in which the kernel saw it.
    public var names: [String] = []
    /// Entries that were made in the directory itself.
    public var builtInPlace: [String] = []
    /// The directory has to be looked through: something may have happened there that nothing here tells.
    public var needsScan = false
    /// Names were lost before those that `names` has.
    public var hasLoss = false
    /// The directory itself was moved or removed.
    public var hasVanished = false
  }

  /// Rings with every post.
  public let bell = Bell()
  private let limit: Int
  private let contents = Mutex(Contents())

  /// - Parameter limit: how many names are kept; the kernel's own queue has 16,384.
  public init(limit: Int = 16_384) { self.limit = limit }

  /// An entry was renamed into the directory, or out of it.
  public func post(renamed name: String) {
    post {
      if $0.names.count < self.limit { $0.names.append(name) } else { Self.lose(&$0) }
    }
  }

  /// An entry was made in the directory itself.
  public func post(builtInPlace name: String) {
    post {
      if $0.builtInPlace.count < self.limit { $0.builtInPlace.append(name) } else { Self.lose(&$0) }
    }
  }

  /// Something was missed. Names that were told before it are dropped: only a scan knows the order of both.
  public func postLoss() { post(Self.lose) }

  /// The directory is to be looked through.
  public func postScan() { post { $0.needsScan = true } }

  /// The directory was moved or removed.
  public func postVanished() { post { $0.hasVanished = true } }

  /// Runs `post` on this mailbox in `seconds`.
  public func later(_ seconds: Double, _ post: @escaping @Sendable (Mailbox) -> Void) {
    Task { [weak self] in
      try await Task.sleep(for: .seconds(seconds))
      if let self { post(self) }
    }
  }

  /// Empties the mailbox.
  public func take() -> Contents {
    contents.withLock { contents in
      defer { contents = Contents() }
      return contents
    }
  }

  private static func lose(_ contents: inout Contents) {
    contents.names = []
    contents.hasLoss = true
    contents.needsScan = true
  }

  private func post(_ change: (inout Contents) -> Void) {
    contents.withLock { change(&$0) }
    bell.ring()
  }
}
