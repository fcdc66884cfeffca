import Synchronization

/// Events of one directory, for the service that looks after it. Posting returns at once, on any thread.
///
/// The mailbox is bounded: beyond its limit it drops the names and asks for a scan instead.
package final class Mailbox: Sendable {
  /// The events since the last `take`.
  package struct Contents: Sendable {
    /// Entries that were renamed into the directory or out of it, in the order in which the kernel saw it.
    package var names: [String] = []
    /// Entries that were made in the directory itself.
    package var builtInPlace: [String] = []
    /// The directory has to be looked through: something may have happened there that nothing here tells.
    package var needsScan = false
    /// Names were lost before those that `names` has.
    package var hasLoss = false
    /// The directory itself was moved or removed.
    package var hasVanished = false
  }

  /// Rings with every post.
  package let bell = Bell()
  private let limit: Int
  private let contents = Mutex(Contents())

  /// - Parameter limit: how many names are kept; the kernel's own queue has 16,384.
  package init(limit: Int = 16_384) { self.limit = limit }

  /// An entry was renamed into the directory, or out of it.
  package func post(renamed name: String) {
    post {
      if $0.names.count < self.limit { $0.names.append(name) } else { Self.lose(&$0) }
    }
  }

  /// An entry was made in the directory itself.
  package func post(builtInPlace name: String) {
    post {
      if $0.builtInPlace.count < self.limit { $0.builtInPlace.append(name) } else { Self.lose(&$0) }
    }
  }

  /// Something was missed. Names that were told before it are dropped: only a scan knows the order of both.
  package func postLoss() { post(Self.lose) }

  /// The directory is to be looked through.
  package func postScan() { post { $0.needsScan = true } }

  /// The directory was moved or removed.
  package func postVanished() { post { $0.hasVanished = true } }

  /// Runs `post` on this mailbox in `seconds`.
  package func later(_ seconds: Double, _ post: @escaping @Sendable (Mailbox) -> Void) {
    Task { [weak self] in
      try await Task.sleep(for: .seconds(seconds))
      if let self { post(self) }
    }
  }

  /// Empties the mailbox.
  package func take() -> Contents {
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
