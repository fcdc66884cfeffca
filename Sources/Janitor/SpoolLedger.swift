import DurableFiles
import Ledgers
import Spooling

extension Ledger {
  /// Opens the ledger of a spool, and makes it where the spool is new.
  ///
  /// - Parameter isClaimed: this process has the spool; else a daemon may run beside it.
  /// - Throws: `LedgerError.lost` when it is gone: an empty one in its place would forget what waits in `cur/`, and which
  ///   messages were sent; `.older` when its schema is to be changed, and the spool is not this process's.
  package convenience init(of spool: Spool, isClaimed: Bool) throws {
    if try spool.state.entry(Ledger.fileName) == nil, try spool.isInUse {
      throw LedgerError.lost(path: spool.state.path(of: Ledger.fileName))
    }
    let reserve = Reserve(spool)
    try reserve.give()
    try self.init(in: spool.state, isOwn: isClaimed)
    onCommit { try? reserve.give() }
  }

  /// Opens the ledger for a command, beside a daemon or not. Only where there is none is its schema brought up to date.
  package static func beside(daemonOf spool: Spool) throws -> Ledger {
    do { return try Ledger(of: spool, isClaimed: false) } catch LedgerError.older {
      // Who has the spool just now may be another command, or a daemon that has brought the ledger up to date meanwhile.
      guard let claim = try spool.claim(briefly: true, patience: patience) else {
        return try Ledger(of: spool, isClaimed: false)
      }
      defer { claim.release() }
      return try Ledger(of: spool, isClaimed: true)
    }
  }

  /// Seconds for which another command is waited for.
  private static let patience = 30.0

  /// Compares the ledger with the spool it belongs to.
  ///
  /// Requests come into `cur/` after they were committed, and leave it before their rows go, so that one without a row
  /// tells of a ledger that is older than the spool: a copy that was put back, or one whose log was deleted.
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

  /// Names of `cur/` that are asked for together: enough to be neighbours, few enough to take no room.
  private static let namesAtOnce = 16_384
}

extension LedgerView {
  /// The ledger of a spool; nil where the spool is new.
  ///
  /// - Throws: `LedgerError.lost` when it is gone although the spool is in use.
  package init?(of spool: Spool) throws {
    if try spool.state.entry(Ledger.fileName) == nil, try spool.isInUse {
      throw LedgerError.lost(path: spool.state.path(of: Ledger.fileName))
    }
    try self.init(ifThereIsOneIn: spool.state)
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
