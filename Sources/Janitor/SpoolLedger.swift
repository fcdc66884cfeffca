import DurableFiles
import Ledgers
import Spooling

extension Ledger {
  /// Opens the ledger of a spool, or makes it in a new spool.
  ///
  /// - Parameter isClaimed: this process holds the spool; otherwise a daemon may run.
  /// - Throws: `LedgerError.lost` if the ledger is missing: a new one would forget the requests in `cur/` and what was
  ///   sent; `.older` if it needs an upgrade and the spool is not claimed.
  package convenience init(of spool: Spool, isClaimed: Bool) throws {
    try spool.checkForLedger()
    let reserve = Reserve(spool)
    try reserve.give()
    try self.init(in: spool.state, isOwn: isClaimed)
    onCommit { try? reserve.give() }
  }

  /// Opens the ledger for a command. Without a running daemon its schema is upgraded.
  package static func beside(daemonOf spool: Spool) throws -> Ledger {
    do { return try Ledger(of: spool, isClaimed: false) } catch LedgerError.older {
      // Another command, or a daemon that has upgraded the ledger, may hold the spool.
      guard let claim = try spool.claim(briefly: true, patience: patience) else {
        return try Ledger(of: spool, isClaimed: false)
      }
      defer { claim.release() }
      return try Ledger(of: spool, isClaimed: true)
    }
  }

  /// Seconds to wait for another command.
  private static let patience = 30.0

  /// Checks that the ledger belongs to the spool.
  ///
  /// Requests enter `cur/` after their rows are committed, and leave it before the rows are deleted. A request in
  /// `cur/` without a row shows that the ledger is older than the spool: a restored copy, or one that has lost its log.
  ///
  /// - Throws: `LedgerError.outdated`.
  package func check(against spool: Spool) async throws {
    let unknown = try await unknownRequests { [cur = spool.cur] ask in
      var names = [String]()
      try cur.forEachName { bytes in
        let name = String(decoding: bytes, as: UTF8.self)
        if RequestName(name) != nil { names.append(name) }
        if names.count == Self.namesAtOnce {
          try ask(names)
          names.removeAll(keepingCapacity: true)
        }
        return true
      }
      if !names.isEmpty { try ask(names) }
    }
    guard let first = unknown.first else { return }
    throw LedgerError.outdated(
      path: spool.state.path(of: Ledger.fileName), requests: unknown.count, first: first)
  }

  /// Names of `cur/` per query: enough to be neighbours in the index, few enough to use little memory.
  private static let namesAtOnce = 16_384
}

extension LedgerView {
  /// The ledger of a spool; nil if the spool is new.
  ///
  /// - Throws: `LedgerError.lost` if it is missing although the spool is in use.
  package init?(of spool: Spool) throws {
    try spool.checkForLedger()
    try self.init(ifThereIsOneIn: spool.state)
  }
}

extension Spool {
  /// - Throws: `LedgerError.lost` if the ledger is missing although the spool contains something that only a daemon makes.
  fileprivate func checkForLedger() throws {
    if try state.entry(Ledger.fileName) != nil { return }
    for directory in [cur, sent, failed, photos, published] {
      try directory.forEachName { _ in throw LedgerError.lost(path: state.path(of: Ledger.fileName)) }
    }
  }
}
