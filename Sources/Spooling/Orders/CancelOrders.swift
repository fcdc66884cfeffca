import DurableFiles
import Foundation

/// The files of `cancel/`, which name requests to cancel, one a line.
package struct CancelOrders: Sendable {
  /// One file, and the requests that it names.
  package struct Order: Sendable {
    package let requests: [String]
    fileprivate let file: OrderFile
  }

  private let spool: Spool

  package init(_ spool: Spool) { self.spool = spool }

  /// What is ordered, and a sentence for each file that cannot be read. Files that somebody is still writing are passed over.
  package func read() throws -> (orders: [Order], unreadable: [String]) {
    let (files, unreadable) = try OrderFile.all(in: spool.cancel)
    let orders = files.map { file in
      Order(requests: file.lines.map { $0.trimmingCharacters(in: .whitespaces) }, file: file)
    }
    return (orders, unreadable)
  }

  /// Removes an order that was carried out; one that was put in its place meanwhile stays.
  package func remove(_ order: Order) throws { try order.file.remove(from: spool.cancel, of: spool) }
}
