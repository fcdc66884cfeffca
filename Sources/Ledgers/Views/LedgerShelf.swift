import DurableFiles
import Synchronization

/// A view of the ledger that stays open for a program that asks again and again. Opening one costs more than most questions.
///
/// A ledger that was replaced, rebuilt, damaged or removed is noticed at the next call. Views that were given out before go
/// on with the file that they have.
package final class LedgerShelf: Sendable {
  /// Facts that change when a file is another one, or its contents were written. Commits are in the log until a checkpoint.
  private struct Stamp: Equatable {
    let device: UInt64
    let inode: UInt64
    let size: Int
    let modified: Int64

    init(_ entry: Entry) {
      (device, inode, size, modified) = (entry.device, entry.inode, entry.size, entry.modified)
    }
  }

  private let state: Directory
  private let kept = Mutex<(stamp: Stamp, view: LedgerView)?>(nil)

  /// - Parameter state: the directory of the ledger.
  package init(in state: Directory) { self.state = state }

  /// A view that several threads may use at once.
  ///
  /// - Throws: `LedgerError`, as `LedgerView.init(in:)`.
  package func view() throws -> LedgerView {
    let stamp = try state.entry(Ledger.fileName).map(Stamp.init)
    return try kept.withLock { kept in
      if let kept, kept.stamp == stamp { return kept.view }
      kept = nil
      let view = try LedgerView(in: state, readers: Self.readers)
      kept = stamp.map { ($0, view) }
      return view
    }
  }

  /// As `view()`; nil if there is no ledger or an empty one.
  package func viewIfThereIsOne() throws -> LedgerView? {
    do { return try view() } catch LedgerError.missing { return nil }
  }

  /// Questions at once.
  private static let readers = 4
}
