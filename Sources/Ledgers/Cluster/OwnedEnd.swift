import Clusters
import GRDB
import Messages

/// Values of `requests.filed` in an owner's ledger: when the end of a request is told to its origin.
enum OwnedEnd {
  /// As soon as it has ended.
  static let now = 0
  static let told = 1
  /// With the ends of all others of its record, or after a while.
  static let withRecord = 3

  /// Ends that wait for their records; also the condition of an index.
  static let isWaiting = "filed = \(withRecord) AND state <> 'queued'"
  static let waiting = "requests WHERE \(isWaiting)"
}

/// How the ends of requests become known outside of the owner's ledger.
extension Ledger {
  /// The positions of orders that end with a record.
  package func orders(toCancel record: RecordID) async throws -> [Position] {
    try await ask { database in
      try database.values(
        """
        SELECT position FROM owned_orders WHERE subject IN (SELECT request FROM requests WHERE record = ?)
        ORDER BY position
        """, record.text)
    }
  }

  /// The requests of a record, in order, once all have ended; empty until then.
  package func ended(_ record: RecordID) async throws -> [UnfiledRequest] {
    try await read { database in
      if try database.exists("requests WHERE record = ? AND state = 'queued'", record.text) { return [] }
      return try database.requests("WHERE r.record = ? ORDER BY r.id", record.text)
    }
  }

  /// Records that the end of a request was told before its record is over. The end of another one will be told at once.
  ///
  /// - Returns: true, without a change, if the record is over now.
  package func markTold(_ request: Int64, of record: RecordID) async throws -> Bool {
    try await write { database in
      guard try database.tellWithLast(of: record) else {
        // Without its rows, the partition is left.
        return try database.exists("requests WHERE record = ?", record.text)
      }
      try database.run("UPDATE requests SET filed = \(OwnedEnd.told) WHERE id = ?", request)
      return false
    }
  }

  /// Lets ends that have waited for their records be told at once.
  ///
  /// - Parameter patience: how long they may wait, in seconds.
  /// - Returns: whether others wait.
  package func tellWaiting(longerThan patience: Double, at now: Timestamp) async throws -> Bool {
    // The clock may have been set back, too.
    let (isDue, time) = ("abs(finished_at - ?) > ?", Int64(patience * 1000))
    if try await ask({ try $0.exists("\(OwnedEnd.waiting) AND \(isDue)", now.milliseconds, time) }) {
      try await write { database in
        try database.run(
          "UPDATE requests SET filed = \(OwnedEnd.now) WHERE \(OwnedEnd.isWaiting) AND \(isDue)", now.milliseconds, time
        )
      }
    }
    return try await ask { try $0.exists(OwnedEnd.waiting) }
  }

  /// Forgets records that are finished.
  package func forgetOwned(_ records: Set<RecordID>) async throws {
    if records.isEmpty { return }
    try await write { database in
      for record in records {
        let requests: [Int64] = try database.values("SELECT id FROM requests WHERE record = ?", record.text)
        for request in requests { try database.forgetOwned(request) }
      }
    }
  }
}

extension Database {
  /// Lets the last waiting request of a record be told at once when it ends; that ends the record. Returns false if none waits.
  func tellWithLast(of record: RecordID) throws -> Bool {
    let last: Int64? = try value(
      "SELECT id FROM requests WHERE record = ? AND state = 'queued' ORDER BY id DESC LIMIT 1", record.text)
    guard let last else { return false }
    try run("UPDATE requests SET filed = \(OwnedEnd.now) WHERE id = ?", last)
    return true
  }
}

extension UnfiledRequest {
  /// The id of a request in an owner's ledger; nil in any other.
  package var id: RecordID? { RecordID(inName: self.request) }

  /// Whether its origin was told of its end.
  package var isTold: Bool { self.filed == OwnedEnd.told }
}
