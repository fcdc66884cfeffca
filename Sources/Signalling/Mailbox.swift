import Synchronization

/// Events of one directory, for its service. Posting returns at once, on any thread. Beyond its limit the mailbox drops
/// the names and asks for a scan.
package final class Mailbox: Sendable {
  /// The events since the last `take`.
  package struct Contents: Sendable {
    /// Entries that were renamed into or out of the directory, in the kernel's order, and drafts that were changed.
    package var names: [String] = []
    /// Entries that were made in the directory itself.
    package var builtInPlace: [String] = []
    /// The directory must be scanned: events may be missing.
    package var needsScan = false
    /// Earlier names were lost.
    package var hasLoss = false
    /// The directory itself was moved or removed.
    package var hasVanished = false
  }

  /// Rings with every post.
  package let bell = Bell()
  private let limit: Int
  private let contents = Mutex(Contents())

  /// - Parameter limit: the names that are kept; the kernel's queue holds 16,384.
  package init(limit: Int = 16_384) { self.limit = limit }

  package func post(renamed name: String) { post(name, to: \.names) }

  package func post(builtInPlace name: String) { post(name, to: \.builtInPlace) }

  /// Reports lost events. Earlier names are dropped, because only a scan knows the order of both.
  package func postLoss() { post(Self.lose) }

  package func postScan() { post { $0.needsScan = true } }

  package func postVanished() { post { $0.hasVanished = true } }

  /// Runs `post` on this mailbox in `seconds`.
  package func later(_ seconds: Double, _ post: @escaping @Sendable (Mailbox) -> Void) {
    Task { [weak self] in
      try await Task.sleep(for: .seconds(seconds))
      if let self { post(self) }
    }
  }

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

  private func post(_ name: String, to list: WritableKeyPath<Contents, [String]>) {
    post {
      if $0[keyPath: list].count < self.limit { $0[keyPath: list].append(name) } else { Self.lose(&$0) }
    }
  }

  private func post(_ change: (inout Contents) -> Void) {
    contents.withLock { change(&$0) }
    bell.ring()
  }
}
