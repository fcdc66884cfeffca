import GRDB
import Messages

@testable import Ledgers

/// What has to hold once faults have stopped and nothing is left to do.
extension Simulation {
  func isIdle() async throws -> Bool {
    guard world.orders.isEmpty, world.new.isEmpty else { return false }
    return try await ledger.read { database in
      try Bool.fetchOne(
        database,
        sql: """
          SELECT NOT EXISTS (SELECT 1 FROM conversations WHERE waiting > 0)
            AND NOT EXISTS (SELECT 1 FROM requests WHERE \(LedgerSchema.unfiled) OR state = 'abandoned')
            AND NOT EXISTS (SELECT 1 FROM uploads WHERE state IN ('abandoned','deleting'))
          """) ?? false
    }
  }

  /// Whether a conversation waits for a destination.
  func isParked() async throws -> Bool {
    try await ledger.read { database in
      try Bool.fetchOne(
        database, sql: "SELECT EXISTS (SELECT 1 FROM conversations WHERE waits_for IS NOT NULL AND waiting > 0)")
        ?? false
    }
  }

  func checkEnd() async throws {
    let ends = try await ledger.read { database in
      try Row.fetchAll(database, sql: "SELECT message, state, cause FROM messages WHERE draft = 0").map { row in
        (message: row["message"] as String, state: row["state"] as String, cause: row["cause"] as String?)
      }
    }
    let duplicates = try await ledger.read { database in
      try Set(
        String.fetchAll(
          database,
          sql: """
            SELECT request FROM requests WHERE state = 'duplicate'
              AND EXISTS (SELECT 1 FROM requests first WHERE first.request = requests.duplicate_of AND first.state = 'sent')
            """))
    }
    let states = Dictionary(ends.map { ($0.message, $0) }) { first, _ in first }
    for message in oracle.all {
      guard let end = states[message] else {
        // Its request waited for another with its key, and that one was sent.
        if !oracle.hasAppeared(message), duplicates.contains(String(message.prefix { $0 != "/" })) { continue }
        throw BrokenPromise(description: "LOST: \(message) was accepted and is not in the ledger")
      }
      switch end.state {
      case "sent":
        if !oracle.hasAppeared(message) {
          throw BrokenPromise(description: "LOST: \(message) is sent and never appeared")
        }
      case "failed":
        if end.cause == nil { throw BrokenPromise(description: "\(message) failed without a cause") }
        if end.cause == Cause.expired.rawValue {
          throw BrokenPromise(description: "LOST: \(message) waited till it expired")
        }
      case "cancelled": break
      default: throw BrokenPromise(description: "LOST: \(message) is \(end.state) at the end")
      }
    }
    try await checkUploads()
    try await checkCounts()
  }

  /// Every object is one that others can see, or one that will be used or deleted.
  private func checkUploads() async throws {
    let uploads = try await ledger.read { database in
      try Row.fetchAll(database, sql: "SELECT message, object, state FROM uploads").map { row in
        (message: row["message"] as String, object: row["object"] as String, state: row["state"] as String)
      }
    }
    for upload in uploads where upload.state == "started" && memory.held[MessageID(unchecked: upload.message)] == nil {
      throw BrokenPromise(
        description: "the upload \(upload.object) of \(upload.message) is begun, and nobody has its key")
    }
    let known = Set(uploads.map(\.object))
    for object in world.objects.sorted() where !known.contains(object) && !oracle.isSeen(object) {
      // After a purge only the objects that others may have seen stay.
      if !wasOffered(object) { throw BrokenPromise(description: "the object \(object) is left behind in its store") }
    }
  }

  /// What the ledger counts is what there is.
  private func checkCounts() async throws {
    let isRight = try await ledger.read { database in
      try Bool.fetchOne(
        database,
        sql: """
          SELECT NOT EXISTS (SELECT 1 FROM conversations c WHERE waiting <> (SELECT count(*) FROM messages m
            WHERE m.conversation_id = c.id AND m.draft = 0 AND \(LedgerSchema.waiting(in: "m."))))
          AND (SELECT bytes FROM cache_total) = (SELECT coalesce(sum(cached_bytes + cached_thumbnail_bytes), 0) FROM photos)
          """) ?? false
    }
    if !isRight { throw BrokenPromise(description: "the ledger's counts are not what it holds") }
  }
}
