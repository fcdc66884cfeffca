import DurableFiles
import Ledgers
import Messages
import Spooling

/// Clears the cache by order, in the daemon or in a command. It takes the janitor's turn, so that nothing else evicts
/// meanwhile. Then it evicts originals that can be fetched again, in slices of one transaction each
/// (`Ledger.evictionBatch`): other writers wait for one slice at most. After a kill, the next eviction ends what is
/// marked.
package struct CacheClearing: Sendable {
  private let spool: Spool
  private let ledger: Ledger

  /// Time between two attempts to take the turn. A janitor ends soon.
  private static let pause = Duration.milliseconds(20)

  package init(spool: Spool, ledger: Ledger) {
    self.spool = spool
    self.ledger = ledger
  }

  /// Evicts every original that can be fetched again, of an inbox, of a conversation, or of all.
  ///
  /// - Parameter isStopping: asked before each slice, and while another one has the turn; true ends the work early, with
  ///   no photo left marked.
  /// - Returns: all that was evicted, also what an earlier eviction left marked; and whether everything is done.
  package func run(
    inbox: InboxID?, conversation: ConversationID?, isStopping: @Sendable () -> Bool = { false }
  ) async throws -> (count: EvictionCount, isDone: Bool) {
    guard let turn = try await turn(isStopping) else { return (EvictionCount(), false) }
    defer { turn.release() }
    let reserve = Reserve(spool)
    try reserve.give()
    defer { reserve.take() }
    let cache = PhotoCache(spool)
    var count = EvictionCount()
    var isDone = true
    while true {
      isDone = isDone && !isStopping()
      let candidates =
        isDone
        ? try await ledger.evictionCandidates(.fetchable, inbox: inbox, conversation: conversation, need: .max) : []
      let ended = try await ledger.evict(candidates) { try cache.remove($0, isWhole: $1) }.ended
      count += ended
      if candidates.isEmpty && ended == EvictionCount() { return (count, isDone) }
    }
  }

  /// Waits for the janitor's turn without holding a thread; nil when the caller is stopping.
  private func turn(_ isStopping: () -> Bool) async throws -> FileLock? {
    while !isStopping() {
      if let turn = try SpoolJanitor.turn(on: spool) { return turn }
      try await Task.sleep(for: Self.pause)
    }
    return nil
  }
}
