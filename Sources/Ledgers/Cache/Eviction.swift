import GRDB
import Messages

/// What is evicted first, second and last.
package enum CacheLayer: Int, CaseIterable, Sendable {
  /// Originals that can be fetched again.
  case fetchable
  /// Originals that cannot.
  case lastCopies
  /// Thumbnails and blurred previews of photos whose originals are gone.
  case thumbnails
}

/// Photos that were marked to be evicted, or are.
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

/// A photo that is next to be evicted.
package struct EvictionCandidate: Sendable {
  let row: Int64
  let recency: Int64
  /// Thumbnail and blurred preview would go, and with them the directory; otherwise the original.
  package let isWhole: Bool
  /// Bytes that would be freed.
  package let bytes: Int
  /// The directory of its files, relative to the spool.
  package let path: String
  /// When it was last viewed, or came, for all that the ledger knows.
  package let viewedAt: Timestamp
}

/// Files of the cache that are to be removed.
package struct EvictedFiles: Sendable {
  /// Their directory, relative to the spool.
  package let path: String
  /// Thumbnail and blurred preview go, too, and with them the directory.
  package let isWhole: Bool
}

extension Ledger {
  /// Photos that one transaction marks and ends. While it lasts nobody else writes.
  static let evictionBatch = 1024

  /// What is to be evicted next, least recently viewed first: as much as frees `need` bytes, and at most a batch.
  package func evictionCandidates(
    _ layer: CacheLayer, inbox: InboxID?, conversation: ConversationID? = nil, need: Int
  ) async throws -> [EvictionCandidate] {
    try await read {
      try $0.evictionCandidates(layer, inbox: inbox, conversation: conversation, need: need)
    }
  }

  /// Ends the eviction of what is marked, marks `candidates`, and gives those that were `read` since the ledger knew
  /// another turn, as the most recently viewed ones, in the order of the times at which they were.
  ///
  /// A photo is marked in one commit; its files are removed within the next, while nobody else can write: a photo that
  /// is needed again was pinned before, and then keeps its files, or is pinned later, and is then made anew. What a crash
  /// leaves marked is ended by the next call. A candidate that was viewed or needed since it was asked for is left out.
  ///
  /// - Parameter remove: removes files; what it throws leaves that photo marked and comes out after the commit.
  /// - Returns: what was ended, and what is marked now.
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

  /// Has `plan` evict in the ledger alone, and takes it back. `evict` answers what of a layer it evicted, nil when there
  /// is nothing left; a candidate for which what `reading` makes tells a time gets another turn. Both may be called again
  /// from the beginning.
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

  /// What can be fetched no more after `now` is a last copy.
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
  /// How many originals could be evicted since they can be fetched again, and their bytes.
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

/// Carries an answer out of a transaction that is rolled back.
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
