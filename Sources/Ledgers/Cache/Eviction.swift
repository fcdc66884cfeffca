import GRDB
import Messages

/// The order of eviction.
package enum CacheLayer: Int, CaseIterable, Sendable {
  /// Originals that can be fetched again.
  case fetchable
  /// Originals that cannot be fetched again.
  case lastCopies
  /// Thumbnails and blurred previews of photos whose originals are gone.
  case thumbnails
}

/// Photos that are evicted or marked for it.
package struct EvictionCount: Sendable, Equatable, Encodable {
  package var photos = 0
  package var thumbnails = 0
  package var bytes = 0

  package init() {}

  package static func += (left: inout Self, right: Self) {
    left.photos += right.photos
    left.thumbnails += right.thumbnails
    left.bytes += right.bytes
  }

  fileprivate mutating func add(_ candidate: EvictionCandidate) {
    bytes += candidate.bytes
    if candidate.isWhole { thumbnails += 1 } else { photos += 1 }
  }
}

/// A photo that may be evicted next.
package struct EvictionCandidate: Sendable {
  let row: Int64
  let recency: Int64
  /// Thumbnail, blurred preview and directory would be deleted; otherwise only the original.
  let isWhole: Bool
  /// Bytes that would be freed.
  let bytes: Int
}

extension Ledger {
  /// Photos that one transaction marks and ends. It blocks all other writers.
  static let evictionBatch = 1024

  /// The least recently viewed photos that free `need` bytes, at most one batch.
  package func evictionCandidates(
    _ layer: CacheLayer, inbox: InboxID?, conversation: ConversationID? = nil, need: Int
  ) async throws -> [EvictionCandidate] {
    try await read { database in
      let cursor = try database.evictionCursor(
        layer, inbox: inbox, conversation: conversation, limit: Self.evictionBatch)
      var candidates = [EvictionCandidate]()
      var bytes = 0
      while bytes < need, let candidate = try cursor.next() {
        bytes += candidate.bytes
        candidates.append(candidate)
      }
      return candidates
    }
  }

  /// Ends marked evictions, then marks `candidates`.
  ///
  /// One commit marks a photo, and the next one removes its files while nothing else can write. A photo that is needed
  /// again was either pinned before and keeps its files, or is pinned later and made anew. The next call ends what a
  /// crash left marked. Candidates viewed or needed in the meantime are left out.
  ///
  /// - Parameter remove: removes the original in a directory, relative to the spool, or with `isWhole` all files. If it
  ///   throws, the photo stays marked, and the error is thrown after the commit.
  /// - Returns: the ended and the newly marked photos.
  package func evict(
    _ candidates: [EvictionCandidate], remove: @escaping @Sendable (_ path: String, _ isWhole: Bool) throws -> Void
  ) async throws -> (ended: EvictionCount, marked: EvictionCount) {
    let (ended, marked, fault) = try await write { database in
      let (ended, fault) = try database.endEvictions(remove)
      return (ended, fault == nil ? try database.mark(candidates) : EvictionCount(), fault)
    }
    if let fault { throw fault }
    return (ended, marked)
  }

  /// Counts what keeping the limits would evict: first of each inbox, then of all together. Reads one snapshot and writes
  /// nothing.
  package func evictionPlan(inboxLimit: Int, totalLimit: Int) async throws -> EvictionCount {
    try await read { database in
      var count = EvictionCount()
      var planned = [CacheLayer: Set<Int64>]()
      func take(_ bytes: Int, _ inbox: InboxID?) throws {
        var need = bytes
        for layer in CacheLayer.allCases where need > 0 {
          // All originals that can be evicted are planned by then.
          let condition = layer == .thumbnails ? "cached_thumbnail_bytes > 0 AND pinned = 0 AND evicting = 0" : nil
          let candidates = try database.evictionCursor(layer, inbox: inbox, condition: condition)
          while need > 0, let candidate = try candidates.next() {
            guard planned[layer, default: []].insert(candidate.row).inserted else { continue }
            count.add(candidate)
            need -= candidate.bytes
          }
        }
      }
      let uses = try database.cacheUse()
      for use in uses where use.inbox != nil { try take(use.bytes - inboxLimit, use.inbox) }
      if let total = uses.first { try take(total.bytes - count.bytes - totalLimit, nil) }
      return count
    }
  }

  /// Turns photos that cannot be fetched after `now` into last copies.
  package func expireRemotes(at now: Timestamp) async throws {
    _ = try await writeInBatches { database in
      try database.run(
        """
        UPDATE photos SET fetchable = 0 WHERE rowid IN
          (SELECT rowid FROM photos WHERE fetchable = 1 AND url_expires_at <= ? LIMIT 1000)
        """, now)
      return database.changesCount
    }
  }
}

extension Database {
  /// The photos of a layer that may be evicted, the least recently viewed first.
  fileprivate func evictionCursor(
    _ layer: CacheLayer, inbox: InboxID?, conversation: ConversationID? = nil, limit: Int = -1, condition: String? = nil
  ) throws -> MapCursor<RowCursor, EvictionCandidate> {
    let isThumbnails = layer == .thumbnails
    let condition = condition ?? (isThumbnails ? LedgerSchema.evictableThumbnails : LedgerSchema.evictable)
    let fetchable = isThumbnails ? "" : " AND fetchable = \(layer == .fetchable ? 1 : 0)"
    let (scope, arguments) = restriction(
      ("inbox = ?", inbox?.text),
      ("conversation_id = (SELECT id FROM conversations WHERE conversation = ?)", conversation?.text))
    return try Row.fetchCursor(
      self,
      sql: """
        SELECT rowid, recency, \(isThumbnails ? "cached_thumbnail_bytes" : "cached_bytes") AS size
        FROM photos \(conversation == nil ? "" : "INDEXED BY photos_conversation")
        WHERE \(condition)\(fetchable)\(scope) ORDER BY recency LIMIT \(limit)
        """, arguments: arguments
    ).map { row in
      EvictionCandidate(row: row["rowid"], recency: row["recency"], isWhole: isThumbnails, bytes: row["size"])
    }
  }

  fileprivate func mark(_ candidates: [EvictionCandidate]) throws -> EvictionCount {
    var count = EvictionCount()
    for candidate in candidates {
      try run(
        "UPDATE photos SET evicting = ? WHERE rowid = ? AND recency = ? AND pinned = 0 AND evicting = 0",
        candidate.isWhole ? 2 : 1, candidate.row, candidate.recency)
      if changesCount == 0 { continue }
      count.add(candidate)
    }
    return count
  }

  fileprivate func endEvictions(
    _ remove: (_ path: String, _ isWhole: Bool) throws -> Void
  ) throws -> (EvictionCount, (any Error)?) {
    var count = EvictionCount()
    var fault: (any Error)?
    let photos = try all(PhotoRow.self, "WHERE evicting > 0 AND pinned = 0 LIMIT \(Ledger.evictionBatch)")
    for photo in photos {
      let isWhole = photo.evicting == 2
      do { try remove(photo.path, isWhole) } catch {
        fault = error
        break
      }
      let kept = isWhole ? 0 : photo.cachedThumbnailBytes
      try run(
        "UPDATE photos SET evicting = 0, cached_bytes = 0, cached_thumbnail_bytes = ? WHERE message = ?", kept,
        photo.message)
      if photo.cachedBytes > 0 { count.photos += 1 }
      if isWhole { count.thumbnails += 1 }
      count.bytes += photo.cachedBytes + photo.cachedThumbnailBytes - kept
    }
    try self.count("evicted.photos", count.photos)
    try self.count("evicted.thumbnails", count.thumbnails)
    try self.count("evicted.bytes", count.bytes)
    return (count, fault)
  }
}
