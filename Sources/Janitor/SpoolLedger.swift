import DurableFiles
import Ledgers
import Spooling

extension Ledger {
  /// Opens the ledger of a spool, and makes it where the spool is new.
  ///
  /// - Throws: `LedgerError.lost` when it is gone: an empty one in its place would forget what waits in `cur/`, and which
  ///   messages were sent.
  public convenience init(of spool: Spool) throws {
    if try spool.state.entry(Ledger.fileName) == nil, try spool.isInUse {
      throw LedgerError.lost(path: spool.state.path(of: Ledger.fileName))
    }
    try self.init(in: spool.state)
  }

  /// Compares the ledger with the spool it belongs to.
  ///
  /// Requests come into `cur/` after they were committed, and leave it before their rows go, so that one without a row
  /// tells of a ledger that is older than the spool: a copy that was put back, or one whose log was deleted.
  ///
  /// - Throws: `LedgerError.outdated`.
  public func check(against spool: Spool) async throws {
    var names = [String]()
    try spool.cur.forEachName { bytes in
      let name = String(decoding: bytes, as: UTF8.self)
      if RequestName(name) != nil { names.append(name) }
      return true
    }
    var unknown = [String]()
    for start in stride(from: 0, to: names.count, by: 500) {
      unknown += try await unknownRequests(Array(names[start..<min(start + 500, names.count)]))
    }
    guard let first = unknown.min() else { return }
    throw LedgerError.outdated(
      path: spool.state.path(of: Ledger.fileName), requests: unknown.count, first: first)
  }
}

extension Spool {
  /// Whether something lies here that only a daemon can have put here.
  fileprivate var isInUse: Bool {
    get throws {
      for directory in [cur, sent, failed, photos, published] {
        var isEmpty = true
        try directory.forEachName { _ in
          isEmpty = false
          return false
        }
        if !isEmpty { return true }
      }
      return false
    }
  }
}
