import Blocking
import Janitor
import Ledgers
import Logging
import Messages
import ServiceLifecycle
import Signalling
import Spooling
import Synchronization

/// Purges the conversations that `purge/` names, as soon as they are named.
///
/// For each: it is closed, so that nothing of it enters the ledger; the tombstone is committed while neither intake nor
/// drafts are half-way through anything; what is in hand of it is stopped, and waited for; then its files and rows go.
/// What fails stays ordered, and closed, and is tried again.
final class Purger: Service {
  /// What the rest of delivery does for a purge; nothing where it does not run yet.
  struct Hooks: Sendable {
    /// Runs a job while nothing is half-way into the ledger.
    var alone: @Sendable (@escaping @Sendable () async -> Void) async -> Void = { await $0() }
    /// Stops all that is in hand of the conversation, and returns once it has stopped.
    var stop: @Sendable (PurgedConversation) async throws -> Void = { _ in }
    /// Something may enter the ledger again, or be left to delete from a store.
    var done: @Sendable () async -> Void = {}
  }

  private let purge: Purge
  private let spool: Spool
  private let closed: ClosedConversations
  private let hooks: Hooks
  private let log: Logger
  private let bell = Bell()
  /// The lines and files that were said to be unreadable.
  private let told = Mutex<[String]>([])

  /// Seconds until a purge that failed is tried again.
  private static let patience = 30.0

  init(purge: Purge, spool: Spool, closed: ClosedConversations, hooks: Hooks, log: Logger) {
    self.purge = purge
    self.spool = spool
    self.closed = closed
    self.hooks = hooks
    self.log = log
  }

  /// Says that something may be ordered.
  func wake() { bell.ring() }

  func run() async throws {
    bell.ring()
    await bell.serve {
      if await !carryOut() { bell.ring(in: Self.patience) }
    } failed: { _ in
      nil
    }
  }

  /// Carries out what is ordered now; false when something of it is left.
  func carryOut() async -> Bool {
    do {
      let (conversations, unreadable) = try await purge.ordered()
      let isNews = told.withLock { told in
        defer { told = unreadable }
        return told != unreadable
      }
      if isNews {
        for line in unreadable { log.warning("a line of purge/ names no conversation", metadata: ["line": "\(line)"]) }
      }
      guard !conversations.isEmpty else { return true }
      let reserve = Reserve(spool)
      try reserve.give()
      defer { reserve.take() }
      var count = PurgeCount()
      var finished = [ConversationID]()
      for conversation in conversations {
        do {
          count += try await finish(conversation)
          finished.append(conversation)
        } catch {
          // No name: what is purged is in no log.
          log.error("a purge is left for later", metadata: ["error": "\(error)"])
        }
      }
      guard !finished.isEmpty else { return false }
      try await purge.complete(finished)
      for conversation in finished { closed.open(conversation) }
      await hooks.done()
      log.info(
        "purged",
        metadata: [
          "conversations": "\(count.conversations)", "requests": "\(count.requests)", "photos": "\(count.photos)",
        ])
      return finished.count == conversations.count
    } catch {
      log.error("purges are left for later", metadata: ["error": "\(error)"])
      return false
    }
  }

  private func finish(_ conversation: ConversationID) async throws -> PurgeCount {
    closed.close(conversation)
    let begun = Begun()
    await hooks.alone { [purge] in await begun.set { try await purge.begin(conversation) } }
    let purged = try await begun.get()
    if let purged { try await hooks.stop(purged) }
    return try await purge.finish(conversation, purged)
  }
}

/// An answer from inside of a job.
private actor Begun {
  private var result: Result<PurgedConversation?, any Error> = .success(nil)

  func set(_ body: @Sendable () async throws -> PurgedConversation?) async {
    do { result = .success(try await body()) } catch { result = .failure(error) }
  }

  func get() throws -> PurgedConversation? { try result.get() }
}
