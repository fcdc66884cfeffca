import DurableFiles
import Foundation

/// The files of `cancel/`, each with requests to cancel, one a line.
package struct CancelOrders: Sendable {
  package struct Order: Sendable {
    package let requests: [String]
    fileprivate let file: OrderFile
  }

  private let spool: Spool

  package init(_ spool: Spool) { self.spool = spool }

  /// The orders, and a sentence for each unreadable file. Files that are still being written are skipped.
  package func read() throws -> (orders: [Order], unreadable: [String]) {
    let (files, unreadable) = try OrderFile.all(in: spool.cancel)
    let orders = files.map { file in
      Order(requests: file.lines.map { $0.trimmingCharacters(in: .whitespaces) }, file: file)
    }
    return (orders, unreadable)
  }

  /// Removes an order after its execution, unless another one has replaced it.
  package func remove(_ order: Order) throws { try order.file.remove(from: spool.cancel, of: spool) }
}
