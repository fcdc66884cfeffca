import DurableFiles
import Ledgers
import Logging
import Spooling

/// Ends of drafts: removed, emptied, or replaced by another one.
extension DraftService {
  /// Removes drafts that a later one from the same inbox to the same conversation replaces.
  func removeReplaced() async throws {
    for draft in try await ledger.replacedDrafts() {
      do {
        // It was sent right now, and stays.
        let taken = try await pool.run { [spool] in
          try spool.takeAway(draft.droppedAs, from: spool.draft, identity: draft.identity)
        }
        guard let taken, try await ledger.abandonDraft(draft) else { continue }
        log.info("draft replaced by another one", metadata: ["request": "\(draft.request)"])
        try await pool.run { try taken.delete() }
      } catch let error as FileError {
        log.warning(
          "a replaced draft cannot be removed", metadata: ["request": "\(draft.request)", "error": "\(error)"])
      }
    }
  }

  /// Sets aside those of `drafts` that their clients removed.
  func removeGone(_ drafts: [RequestRow]) async throws {
    let gone = try await pool.run { [spool] in try spool.gone(drafts) }
    for draft in gone where try await ledger.abandonDraft(draft) {
      log.info("draft removed", metadata: ["request": "\(draft.request)"])
    }
  }

  /// Sets aside a draft that lost its last photo, which was not moved or sent.
  func removeEmptied(_ name: String) async throws {
    let identity = try spool.draft.entry(name).map(RequestIdentity.init)
    for draft in try await ledger.drafts(droppedAs: name) where draft.identity == identity {
      if try await ledger.abandonDraft(draft) { log.info("draft emptied", metadata: ["request": "\(draft.request)"]) }
    }
  }

  /// Deletes uploads, cached photos and rows of drafts that were set aside.
  func endAbandoned() async throws {
    for (row, superseded) in try await ledger.abandonedDrafts(limit: Self.mostEnding)
    where ending.insert(row).inserted {
      Task {
        do {
          for photo in superseded { try await photos.erase(photo) }
          try await ledger.forgetAbandonedDraft(row)
          signals.sweeper.ring()
        } catch {
          log.error("an abandoned draft is left for later", metadata: ["error": "\(error)"])
          try? await Task.sleep(for: .seconds(1))
        }
        ending.remove(row)
        mailbox.bell.ring()
      }
    }
  }
}
