import DurableFiles
import Ledgers
import Messages
import Spooling

/// Keeps the cache within its limits. What goes is decided by the ledger alone, whose totals are exact, so that it costs
/// as much as is evicted.
struct Limits: Sendable {
  let spool: Spool
  let ledger: Ledger
  let options: JanitorOptions
  let isRehearsal: Bool

  struct Result: Sendable {
    var evicted = EvictionCount()
    var warnings = [String]()
  }

  /// Evicts what is too much: first in each inbox that is beyond its limit, then over all inboxes.
  func keep() async throws -> Result {
    var result = Result()
    if isRehearsal {
      result.evicted = try await rehearse()
      for use in try await ledger.cacheUse() where isBeyond(use) && !use.isWarned {
        result.warnings.append(warning(use))
      }
      return result
    }
    // What a crash left half evicted.
    while true {
      let step = try await evict(.fetchable, inbox: nil, need: 0)
      result.evicted += step.ended
      if step.ended == EvictionCount() { break }
    }
    let uses = try await ledger.cacheUse()
    for use in uses where isBeyond(use) && !use.isWarned { result.warnings.append(warning(use)) }
    for use in uses where use.inbox != nil && isBeyond(use) {
      result.evicted += try await evict(use.bytes - limit(use), inbox: use.inbox)
    }
    if let total = try await ledger.cacheUse().first, isBeyond(total) {
      result.evicted += try await evict(total.bytes - limit(total), inbox: nil)
    }
    // Said again only once it has been within the limit.
    for use in try await ledger.cacheUse() where use.isWarned != isBeyond(use) {
      try await ledger.setWarned(isBeyond(use), inbox: use.inbox)
    }
    return result
  }

  /// Evicts every original of the scope that can be fetched again.
  func clear(inbox: InboxID?, conversation: ConversationID?) async throws -> EvictionCount {
    var count = EvictionCount()
    while true {
      let step = try await ledger.evict(
        .fetchable, inbox: inbox, conversation: conversation, need: .max, remove: remove)
      count += step.ended
      if step.marked == EvictionCount() { break }
    }
    return count
  }

  private func limit(_ use: CacheUse) -> Int { use.inbox == nil ? options.totalBytes : options.inboxBytes }
  private func isBeyond(_ use: CacheUse) -> Bool { use.bytes > limit(use) }

  private func warning(_ use: CacheUse) -> String {
    let what = use.inbox.map { "the photos of inbox \($0)" } ?? "all photos in the cache"
    return "\(what) take \(use.bytes) bytes, beyond the limit of \(limit(use)); the least recently viewed go"
  }

  private func evict(_ bytes: Int, inbox: InboxID?) async throws -> EvictionCount {
    var count = EvictionCount()
    var rest = bytes
    for layer in CacheLayer.allCases {
      while rest > 0 {
        let step = try await evict(layer, inbox: inbox, need: rest)
        count += step.ended
        rest -= step.marked.bytes
        if step.marked == EvictionCount() { break }
      }
      // Thumbnails can be marked once their originals are gone.
      while true {
        let step = try await evict(layer, inbox: inbox, need: 0)
        count += step.ended
        if step.ended == EvictionCount() { break }
      }
    }
    return count
  }

  private func evict(
    _ layer: CacheLayer, inbox: InboxID?, need: Int
  ) async throws -> (ended: EvictionCount, marked: EvictionCount) {
    try await ledger.evict(layer, inbox: inbox, need: need, remove: remove)
  }

  private var remove: @Sendable (EvictedFiles) throws -> Void {
    { [cache = CacheFiles(spool)] in try cache.remove($0.path, isWhole: $0.isWhole) }
  }

  /// What would be evicted.
  private func rehearse() async throws -> EvictionCount {
    let options = options
    let uses = try await ledger.cacheUse()
    return try await ledger.rehearse { mark in
      var count = EvictionCount()
      func take(_ bytes: Int, _ inbox: InboxID?) throws {
        var rest = bytes
        for layer in CacheLayer.allCases {
          while rest > 0 {
            let marked = try mark(layer, inbox, rest)
            if marked == EvictionCount() { break }
            count += marked
            rest -= marked.bytes
          }
        }
      }
      for use in uses where use.inbox != nil && use.bytes > options.inboxBytes {
        try take(use.bytes - options.inboxBytes, use.inbox)
      }
      if let total = uses.first, total.bytes - count.bytes > options.totalBytes {
        try take(total.bytes - count.bytes - options.totalBytes, nil)
      }
      return count
    }
  }
}
