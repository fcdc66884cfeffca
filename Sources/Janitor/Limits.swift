import Ledgers
import Messages
import Settings
import Spooling

/// Keeps the cache within its limits. The ledger's exact totals decide, so the cost depends on what is evicted.
struct Limits: Sendable {
  let spool: Spool
  let ledger: Ledger
  let cache: Settings.Cache

  /// Evicts the excess: first of each inbox, then of all together.
  func keep(_ report: inout JanitorReport) async throws {
    // A crash may have left marked photos.
    report.evicted += try await end()
    let uses = try await ledger.cacheUse()
    for use in uses where isBeyond(use) && !use.isWarned {
      report.warnings.append(warning(use))
      try await ledger.setWarned(true, inbox: use.inbox)
    }
    for use in uses where use.inbox != nil && isBeyond(use) {
      report.evicted += try await evict(use.bytes - limit(use), inbox: use.inbox)
    }
    if let total = try await ledger.cacheUse().first, isBeyond(total) {
      report.evicted += try await evict(total.bytes - limit(total), inbox: nil)
    }
    // A full cache reaches the limit again and again, so the next warning needs a clear gap.
    for use in try await ledger.cacheUse() where use.isWarned && use.bytes < limit(use) / 10 * 9 {
      try await ledger.setWarned(false, inbox: use.inbox)
    }
  }

  /// Reports what `keep` would do now. Writes nothing.
  func plan(_ report: inout JanitorReport) async throws {
    report.evicted = try await ledger.evictionPlan(inboxLimit: cache.inbox, totalLimit: cache.total)
    report.warnings += try await ledger.cacheUse().filter { isBeyond($0) && !$0.isWarned }.map(warning)
  }

  private func limit(_ use: CacheUse) -> Int { use.inbox == nil ? cache.total : cache.inbox }
  private func isBeyond(_ use: CacheUse) -> Bool { use.bytes > limit(use) }

  private func warning(_ use: CacheUse) -> String {
    let what = use.inbox.map { "the photos of inbox \($0)" } ?? "all photos in the cache"
    let (size, limit) = (sizeInWords(use.bytes), sizeInWords(limit(use)))
    return "\(what) take \(size), beyond the limit of \(limit); the least recently viewed go"
  }

  private func evict(_ bytes: Int, inbox: InboxID?) async throws -> EvictionCount {
    var count = EvictionCount()
    var rest = bytes
    for layer in CacheLayer.allCases {
      while rest > 0 {
        let candidates = try await ledger.evictionCandidates(layer, inbox: inbox, need: rest)
        if candidates.isEmpty { break }
        let step = try await ledger.evict(candidates, remove: remove)
        count += step.ended
        rest -= step.marked.bytes
      }
      // Thumbnails can be marked once their originals are gone.
      count += try await end()
    }
    return count
  }

  private func end() async throws -> EvictionCount {
    var count = EvictionCount()
    while true {
      let step = try await ledger.evict([], remove: remove)
      if step.ended == EvictionCount() { return count }
      count += step.ended
    }
  }

  private var remove: @Sendable (String, Bool) throws -> Void {
    { [cache = PhotoCache(spool)] in try cache.remove($0, isWhole: $1) }
  }
}
