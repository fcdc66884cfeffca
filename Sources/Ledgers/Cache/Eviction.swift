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
package struct EvictionCount: Sendable, Equatable {
  package var photos = 0
  package var thumbnails = 0
  package var bytes = 0

  package init() {}

  package static func += (left: inout Self, right: Self) {
    left.photos += right.photos
    left.thumbnails += right.thumbnails
    left.bytes += right.bytes
  }
}

/// A photo that may be evicted next.
package struct EvictionCandidate: Sendable {
  let row: Int64
  let recency: Int64
  /// Thumbnail, blurred preview and directory would be deleted; otherwise only the original.
  package let isWhole: Bool
  /// Bytes that would be freed.
  package let bytes: Int
  /// The directory of its files, relative to the spool.
  package let path: String
  /// The time of the last view, or of arrival, as far as the ledger knows.
  package let viewedAt: Timestamp
}

/// Cached files to delete.
package struct EvictedFiles: Sendable {
  /// Their directory, relative to the spool.
  package let path: String
  /// Delete thumbnail, blurred preview and directory, too.
  package let isWhole: Bool
}

extension Ledger {
  /// Photos that one transaction marks and ends. It blocks all other writers.
  static let evictionBatch = 1024

  /// The least recently viewed photos that free `need` bytes, at most one batch.
  package func evictionCandidates(
    _ layer: CacheLayer, inbox: InboxID?, conversation: ConversationID? = nil, need: Int
  ) async throws -> [EvictionCandidate] {
    try await read {
      try $0.evictionCandidates(layer, inbox: inbox, conversation: conversation, need: need)
    }
  }

  /// Ends marked evictions and marks `candidates`. Photos `read` since the ledger knew become the most recently viewed,
  /// in the order of those times.
  ///
  /// One commit marks a photo, and the next one removes its files while nothing else can write. A photo that is needed
  /// again was either pinned before and keeps its files, or is pinned later and made anew. The next call ends what a
  /// crash left marked. Candidates viewed or needed in the meantime are left out.
  ///
  /// - Parameter remove: removes files. If it throws, the photo stays marked, and the error is thrown after the commit.
  /// - Returns: the ended and the newly marked photos.
  package func evict(
    _ candidates: [EvictionCandidate], read: [(candidate: EvictionCandidate, at: Timestamp)] = [],
    remove: @escaping @Sendable (EvictedFiles) throws -> Void
  ) async throws -> (ended: EvictionCount, marked: EvictionCount) {
    let (ended, marked, fault) = try await write { database in
      let (ended, fault) = try database.endEvictions(remove)
      if fault != nil { return (ended, EvictionCount(), fault) }
      try database.requeue(read)
      return (ended, try database.mark(candidates), nil)
    }
    if let fault { throw fault }
    return (ended, marked)
  }

  /// Runs `plan` in the ledger alone and rolls it back. `evict` returns the evicted photos of a layer, nil at its end;
  /// a candidate with a time from `reading` is kept. Both may be called again from the beginning.
  package func rehearse<Answer: Sendable>(
    reading: @escaping @Sendable () -> (EvictionCandidate) throws -> Timestamp?,
    _ plan: @escaping @Sendable (_ evict: (CacheLayer, InboxID?, Int) throws -> EvictionCount?) throws -> Answer
  ) async throws -> Answer {
    do {
      return try await write { database in
        let isRead = reading()
        throw Rehearsal(
          answer: try plan { layer, inbox, need in
            let candidates = try database.evictionCandidates(layer, inbox: inbox, conversation: nil, need: need)
            if candidates.isEmpty { return nil }
            let times = try candidates.map(isRead)
            try database.requeue(zip(candidates, times).compactMap { candidate, time in time.map { (candidate, $0) } })
            let marked = try database.mark(zip(candidates, times).filter { $1 == nil }.map(\.0))
            _ = try database.endEvictions { _ in }
            return marked
          })
      }
    } catch let rehearsal as Rehearsal<Answer> {
      return rehearsal.answer
    }
  }

  /// Turns photos that cannot be fetched after `now` into last copies.
  package func expireRemotes(at now: Timestamp) async throws {
    while try await write({ database in
      try database.execute(
        sql: """
          UPDATE photos SET fetchable = 0 WHERE rowid IN
            (SELECT rowid FROM photos WHERE fetchable = 1 AND url_expires_at <= ? LIMIT 1000)
          """,
        arguments: [now.milliseconds])
      return database.changesCount == 1000
    }) {}
  }
}

extension LedgerView {
  /// The number and bytes of originals that could be evicted because they can be fetched again.
  package func clearable(inbox: InboxID?, conversation: ConversationID?) throws -> (photos: Int, bytes: Int) {
    var conditions = [LedgerSchema.evictable, "fetchable = 1"]
    if inbox != nil { conditions.append("inbox = ?") }
    if conversation != nil {
      conditions.append("conversation_id = (SELECT id FROM conversations WHERE conversation = ?)")
    }
    return try read { database in
      let row = try Row.fetchOne(
        database,
        sql: "SELECT count(*) AS photos, sum(cached_bytes) AS bytes FROM photos WHERE "
          + conditions.joined(separator: " AND "),
        arguments: StatementArguments([inbox?.text, conversation?.text].compactMap { $0 }))
      return (row?["photos"] ?? 0, row?["bytes"] ?? 0)
    }
  }
}

/// Carries a result out of a transaction that is rolled back.
private struct Rehearsal<Answer: Sendable>: Error {
  let answer: Answer
}

extension Database {
  fileprivate func evictionCandidates(
    _ layer: CacheLayer, inbox: InboxID?, conversation: ConversationID?, need: Int
  ) throws -> [EvictionCandidate] {
    let isThumbnails = layer == .thumbnails
    var conditions = [isThumbnails ? LedgerSchema.evictableThumbnails : LedgerSchema.evictable]
    if !isThumbnails { conditions.append("fetchable = \(layer == .fetchable ? 1 : 0)") }
    if inbox != nil { conditions.append("inbox = ?") }
    if conversation != nil {
      conditions.append("conversation_id = (SELECT id FROM conversations WHERE conversation = ?)")
    }
    let rows = try Row.fetchCursor(
      self,
      sql: """
        SELECT rowid, recency, path, \(isThumbnails ? "cached_thumbnail_bytes" : "cached_bytes") AS size,
          max(created_at, coalesce(uploaded_at, 0), coalesce(downloaded_at, 0), coalesce(viewed_at, 0)) AS viewed
        FROM photos \(conversation == nil ? "" : "INDEXED BY photos_conversation") WHERE \(conditions.joined(separator: " AND ")) ORDER BY recency LIMIT \(Ledger.evictionBatch)
        """,
      arguments: StatementArguments([inbox?.text, conversation?.text].compactMap { $0 }))
    var candidates = [EvictionCandidate]()
    var bytes = 0
    while bytes < need, let row = try rows.next() {
      let candidate = EvictionCandidate(
        row: row["rowid"], recency: row["recency"], isWhole: isThumbnails, bytes: row["size"], path: row["path"],
        viewedAt: Timestamp(milliseconds: row["viewed"]))
      bytes += candidate.bytes
      candidates.append(candidate)
    }
    return candidates
  }

  fileprivate func mark(_ candidates: [EvictionCandidate]) throws -> EvictionCount {
    let mark = try makeStatement(
      sql: "UPDATE photos SET evicting = ? WHERE rowid = ? AND recency = ? AND pinned = 0 AND evicting = 0")
    var count = EvictionCount()
    for candidate in candidates {
      try mark.execute(arguments: [candidate.isWhole ? 2 : 1, candidate.row, candidate.recency])
      if changesCount == 0 { continue }
      count.bytes += candidate.bytes
      if candidate.isWhole { count.thumbnails += 1 } else { count.photos += 1 }
    }
    return count
  }

  fileprivate func requeue(_ read: [(candidate: EvictionCandidate, at: Timestamp)]) throws {
    let requeue = try makeStatement(
      sql:
        "UPDATE photos SET recency = ?, viewed_at = ? WHERE rowid = ? AND recency = ? AND pinned = 0 AND evicting = 0")
    for (candidate, time) in read.sorted(by: { $0.at.milliseconds < $1.at.milliseconds }) {
      try requeue.execute(arguments: [nextRecency(), time.milliseconds, candidate.row, candidate.recency])
    }
  }

  fileprivate func endEvictions(_ remove: (EvictedFiles) throws -> Void) throws -> (EvictionCount, (any Error)?) {
    var count = EvictionCount()
    var fault: (any Error)?
    let rows = try Row.fetchAll(
      self,
      sql: """
        SELECT rowid, path, evicting, cached_bytes, cached_thumbnail_bytes FROM photos
        WHERE evicting > 0 AND pinned = 0 LIMIT \(Ledger.evictionBatch)
        """)
    let end = try makeStatement(
      sql: "UPDATE photos SET evicting = 0, cached_bytes = 0, cached_thumbnail_bytes = ? WHERE rowid = ?")
    for row in rows {
      let isWhole = row["evicting"] == 2
      do { try remove(EvictedFiles(path: row["path"], isWhole: isWhole)) } catch {
        fault = error
        break
      }
      let bytes: Int = row["cached_bytes"]
      let thumbnails: Int = row["cached_thumbnail_bytes"]
      try end.execute(arguments: [isWhole ? 0 : thumbnails, row["rowid"] as Int64])
      if bytes > 0 { count.photos += 1 }
      if isWhole { count.thumbnails += 1 }
      count.bytes += bytes + (isWhole ? thumbnails : 0)
    }
    try self.count("evicted.photos", count.photos)
    try self.count("evicted.thumbnails", count.thumbnails)
    try self.count("evicted.bytes", count.bytes)
    return (count, fault)
  }
}
