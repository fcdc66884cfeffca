import DurableFiles
import Ledgers
import Messages
import Settings
import Spooling
import Synchronization

/// Keeps the cache within its limits. The ledger's exact totals decide, so the cost depends on what is evicted.
///
/// The ledger knows views through photospool. For other programs, the access times of the next candidates are read; a
/// photo that was read in the meantime is kept for now.
struct Limits: Sendable {
  let spool: Spool
  let ledger: Ledger
  let cache: Settings.Cache
  let now: Timestamp
  let isRehearsal: Bool

  /// The most photos that one run spares. With more, something such as a backup has read everything, and access times
  /// mean nothing.
  static let mostTurns = 8192
  /// Seconds after a view in which an access counts as that view, or as the photo's creation.
  private static let grace = 60.0

  struct Result: Sendable {
    var evicted = EvictionCount()
    var warnings = [String]()
  }

  /// Evicts the excess: first of each inbox, then of all together.
  func keep() async throws -> Result {
    var result = Result()
    if isRehearsal {
      result.evicted = try await rehearse()
      for use in try await ledger.cacheUse() where isBeyond(use) && !use.isWarned {
        result.warnings.append(warning(use))
      }
      return result
    }
    // A crash may have left marked photos.
    result.evicted += try await end()
    let turns = Turns()
    let uses = try await ledger.cacheUse()
    for use in uses where isBeyond(use) && !use.isWarned {
      result.warnings.append(warning(use))
      try await ledger.setWarned(true, inbox: use.inbox)
    }
    for use in uses where use.inbox != nil && isBeyond(use) {
      result.evicted += try await evict(use.bytes - limit(use), inbox: use.inbox, turns)
    }
    if let total = try await ledger.cacheUse().first, isBeyond(total) {
      result.evicted += try await evict(total.bytes - limit(total), inbox: nil, turns)
    }
    // A full cache reaches the limit again and again, so the next warning needs a clear gap.
    for use in try await ledger.cacheUse() where use.isWarned && use.bytes < limit(use) / 10 * 9 {
      try await ledger.setWarned(false, inbox: use.inbox)
    }
    return result
  }

  /// Evicts every original in the scope that can be fetched again.
  func clear(inbox: InboxID?, conversation: ConversationID?) async throws -> EvictionCount {
    var count = EvictionCount()
    while true {
      let candidates = try await ledger.evictionCandidates(
        .fetchable, inbox: inbox, conversation: conversation, need: .max)
      count += try await ledger.evict(candidates, remove: remove).ended
      if candidates.isEmpty { count += try await end(); return count }
    }
  }

  private func limit(_ use: CacheUse) -> Int { use.inbox == nil ? cache.total : cache.inbox }
  private func isBeyond(_ use: CacheUse) -> Bool { use.bytes > limit(use) }

  private func warning(_ use: CacheUse) -> String {
    let what = use.inbox.map { "the photos of inbox \($0)" } ?? "all photos in the cache"
    let (size, limit) = (sizeInWords(use.bytes), sizeInWords(limit(use)))
    return "\(what) take \(size), beyond the limit of \(limit); the least recently viewed go"
  }

  private func evict(_ bytes: Int, inbox: InboxID?, _ turns: Turns) async throws -> EvictionCount {
    var count = EvictionCount()
    var rest = bytes
    for layer in CacheLayer.allCases {
      while rest > 0 {
        let candidates = try await ledger.evictionCandidates(layer, inbox: inbox, need: rest)
        if candidates.isEmpty { break }
        // Reading the access times also speeds up the removal.
        let looks = turns.areLeft ? try await ConcurrentMap.map(candidates, lastRead) : []
        let times = candidates.indices.map { looks.isEmpty ? nil : turns.take(looks[$0]) }
        let step = try await ledger.evict(
          zip(candidates, times).filter { $1 == nil }.map(\.0),
          read: zip(candidates, times).compactMap { candidate, time in time.map { (candidate, $0) } }, remove: remove)
        count += step.ended
        rest -= step.marked.bytes
      }
      // Thumbnails can be marked once their originals are gone.
      count += try await end()
    }
    return count
  }

  /// Ends marked evictions.
  private func end() async throws -> EvictionCount {
    var count = EvictionCount()
    while true {
      let step = try await ledger.evict([], remove: remove)
      if step.ended == EvictionCount() { return count }
      count += step.ended
    }
  }

  /// The last access to the files of a candidate, after the last view that the ledger knows.
  private var lastRead: @Sendable (EvictionCandidate) throws -> Timestamp? {
    { [cache = CacheFiles(spool), now] in
      guard let time = try cache.lastRead($0.path, isWhole: $0.isWhole) else { return nil }
      // An access in the future is not a view.
      return time.seconds(since: $0.viewedAt) > Self.grace && now.seconds(since: time) >= 0 ? time : nil
    }
  }

  private var remove: @Sendable (EvictedFiles) throws -> Void {
    { [cache = CacheFiles(spool)] in try cache.remove($0.path, isWhole: $0.isWhole) }
  }

  private func rehearse() async throws -> EvictionCount {
    let cache = cache
    let uses = try await ledger.cacheUse()
    let lastRead = lastRead
    let reading: @Sendable () -> (EvictionCandidate) throws -> Timestamp? = {
      let turns = Turns()
      return { turns.areLeft ? turns.take(try lastRead($0)) : nil }
    }
    return try await ledger.rehearse(reading: reading) { evict in
      var count = EvictionCount()
      func take(_ bytes: Int, _ inbox: InboxID?) throws {
        var rest = bytes
        for layer in CacheLayer.allCases {
          while rest > 0, let evicted = try evict(layer, inbox, rest) {
            count += evicted
            rest -= evicted.bytes
          }
        }
      }
      for use in uses where use.inbox != nil && use.bytes > cache.inbox {
        try take(use.bytes - cache.inbox, use.inbox)
      }
      if let total = uses.first, total.bytes - count.bytes > cache.total {
        try take(total.bytes - count.bytes - cache.total, nil)
      }
      return count
    }
  }
}

/// The number of photos that this run may still spare.
private final class Turns: Sendable {
  private let rest = Mutex(Limits.mostTurns)

  var areLeft: Bool { rest.withLock { $0 > 0 } }

  /// The access time if the photo is spared; nil if the limit is reached.
  func take(_ time: Timestamp?) -> Timestamp? {
    rest.withLock { rest in
      guard rest > 0, let time else { return nil }
      rest -= 1
      return time
    }
  }
}
