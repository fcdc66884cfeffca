import DurableFiles
import Foundation

/// The files of `cancel/`, which name requests to cancel, one a line.
public struct CancelOrders: Sendable {
  /// One file, and the requests that it names.
  public struct Order: Sendable {
    public let requests: [String]
    fileprivate let file: String
  }

  private let directory: Directory
  private static let longest = 1 << 20

  public init(_ spool: Spool) { directory = spool.cancel }

  /// What is ordered. Files that somebody is still writing, and what is no file or too long, are passed over.
  public func read() throws -> [Order] {
    try directory.names().compactMap { name in
      guard !name.hasPrefix("."), let entry = try directory.entry(name), entry.kind == .file else { return nil }
      let file = try directory.file(name)
      guard file.hasWriter() != true, let bytes = try file.contents(limit: Self.longest) else { return nil }
      let lines = String(decoding: bytes, as: UTF8.self).split(separator: "\n")
      return Order(requests: lines.map { $0.trimmingCharacters(in: .whitespaces) }, file: name)
    }
  }

  /// Removes an order that was carried out.
  public func remove(_ order: Order) throws { try directory.remove(order.file) }
}
