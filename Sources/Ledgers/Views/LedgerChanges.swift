import DurableFiles
import GRDB

/// Tells whether the ledger has changed since the last question, without reading it: for somebody who asks often.
///
/// It keeps the ledger open. A ledger that was replaced, rebuilt or removed counts as a change. It is not `Sendable`: one
/// task asks.
package struct LedgerChanges {
  private let state: Directory
  private var view: LedgerView?
  private var inode: UInt64?
  private var version: Int64?

  package init(in state: Directory) { self.state = state }

  /// Whether something was committed since the last call; true at the first one. A ledger that cannot be read has not
  /// changed while it stays so.
  package mutating func haveCome() -> Bool {
    let now = try? state.entry(Ledger.fileName)?.inode
    if now != inode || view == nil && now != nil {
      let hadView = view != nil
      view = try? LedgerView(ifThereIsOneIn: state)
      let isChange = now != inode || hadView != (view != nil)
      inode = now
      version = try? view?.version()
      return isChange
    }
    let current = try? view?.version()
    defer { version = current }
    return current != version
  }
}

extension LedgerView {
  /// A number that changes with every commit of others, as long as this view is open.
  fileprivate func version() throws -> Int64? {
    try read { try Int64.fetchOne($0, sql: "PRAGMA data_version") }
  }
}
