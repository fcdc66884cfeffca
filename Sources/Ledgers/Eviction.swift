import GRDB
import Messages

/// What is evicted first, second and last.
public enum CacheLayer: Int, CaseIterable, Sendable {
  /// Originals that can be fetched again.
  case fetchable
  /// Originals that cannot.
  case lastCopies
  /// Thumbnails and blurred previews of photos whose originals are gone.
  case thumbnails
}

/// Photos that were marked to be evicted, or are.
public struct EvictionCount: Sendable, Equatable {
  public var photos = 0
  public var thumbnails = 0
  public var bytes = 0

  public init() {}

  public static func += (left: inout Self, right: Self) {
    left.photos += right.photos
    left.thumbnails += right.thumbnails
    left.bytes += right.bytes
  }
}

/// Files of the cache that are to be removed.
public struct EvictedFiles: Sendable {
  /// Their directory, relative to the spool.
  public let path: String
  /// Thumbnail and blurred preview go, too, and with them the directory.
  public let isWhole: Bool
}

extension Ledger {
  /// Photos that one transaction marks and ends. While it lasts nobody else writes.
  static let evictionBatch = 512

  /// Ends the eviction of what is marked, and marks what is to be evicted next, least recently viewed first.
  ///
  /// A photo is marked in one commit; its files are removed within the next, while nobody else can write: a photo that
  /// is needed again was pinned before, and then keeps its files, or is pinned later, and is then made anew. What a crash
  /// leaves marked is ended by the next call.
  ///
  /// - Parameters:
  ///   - need: bytes that are to be marked, at most a batch.
  ///   - remove: removes files; what it throws leaves that photo marked and comes out after the commit.
  /// - Returns: what was ended, and what is marked now.
  public func evict(
    _ layer: CacheLayer, inbox: InboxID?, conversation: ConversationID? = nil, need: Int,
    remove: @escaping @Sendable (EvictedFiles) throws -> Void
  ) async throws -> (ended: EvictionCount, marked: EvictionCount) {
    let (ended, marked, fault) = try await write { database in
      let (ended, fault) = try database.endEvictions(remove)
      let marked =
        need > 0 && fault == nil
        ? try database.markEvictions(layer, inbox: inbox, conversation: conversation, need: need) : EvictionCount()
      return (ended, marked, fault)
    }
    if let fault { throw fault }
    return (ended, marked)
  }

  /// Has `plan` evict in the ledger alone, and takes it back.
  public func rehearse<Answer: Sendable>(
    _ plan: @escaping @Sendable (_ mark: (CacheLayer, InboxID?, Int) throws -> EvictionCount) throws -> Answer
  ) async throws -> Answer {
    do {
      return try await write { database in
        throw Rehearsal(
          answer: try plan { layer, inbox, need in
            let marked = try database.markEvictions(layer, inbox: inbox, conversation: nil, need: need)
            _ = try database.endEvictions { _ in }
            return marked
          })
      }
    } catch let rehearsal as Rehearsal<Answer> {
      return rehearsal.answer
    }
  }

  /// What can be fetched no more after `now` is a last copy.
  public func expireRemotes(at now: Timestamp) async throws {
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

/// Carries an answer out of a transaction that is rolled back.
private struct Rehearsal<Answer: Sendable>: Error {
  let answer: Answer
}

extension Database {
  fileprivate func endEvictions(_ remove: (EvictedFiles) throws -> Void) throws -> (EvictionCount, (any Error)?) {
    var count = EvictionCount()
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
      do { try remove(EvictedFiles(path: row["path"], isWhole: isWhole)) } catch { return (count, error) }
      let bytes: Int = row["cached_bytes"]
      let thumbnails: Int = row["cached_thumbnail_bytes"]
      try end.execute(arguments: [isWhole ? 0 : thumbnails, row["rowid"] as Int64])
      if bytes > 0 { count.photos += 1 }
      if isWhole { count.thumbnails += 1 }
      count.bytes += bytes + (isWhole ? thumbnails : 0)
    }
    return (count, nil)
  }

  fileprivate func markEvictions(
    _ layer: CacheLayer, inbox: InboxID?, conversation: ConversationID?, need: Int
  ) throws -> EvictionCount {
    let isThumbnails = layer == .thumbnails
    var conditions = [isThumbnails ? LedgerSchema.evictableThumbnails : LedgerSchema.evictable]
    if !isThumbnails { conditions.append("fetchable = \(layer == .fetchable ? 1 : 0)") }
    if inbox != nil { conditions.append("inbox = ?") }
    if conversation != nil {
      conditions.append("conversation_id = (SELECT id FROM conversations WHERE conversation = ?)")
    }
    let rows = try Row.fetchAll(
      self,
      sql: """
        SELECT rowid, \(isThumbnails ? "cached_thumbnail_bytes" : "cached_bytes") AS size FROM photos
        WHERE \(conditions.joined(separator: " AND ")) ORDER BY recency LIMIT \(Ledger.evictionBatch)
        """,
      arguments: StatementArguments([inbox?.text, conversation?.text].compactMap { $0 }))
    let mark = try makeStatement(sql: "UPDATE photos SET evicting = \(isThumbnails ? 2 : 1) WHERE rowid = ?")
    var count = EvictionCount()
    for row in rows where count.bytes < need {
      try mark.execute(arguments: [row["rowid"] as Int64])
      count.bytes += row["size"] as Int
      if isThumbnails { count.thumbnails += 1 } else { count.photos += 1 }
    }
    return count
  }
}
