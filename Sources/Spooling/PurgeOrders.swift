import DurableFiles
import Foundation
import Messages

/// The files of `purge/`, which name conversations to delete, one a line.
///
/// An order stands until it is struck out, and is carried out until then, however often that is interrupted.
public struct PurgeOrders: Sendable {
  private let directory: Directory
  private static let longest = 1 << 20

  public init(_ spool: Spool) { directory = spool.purge }

  /// What is ordered, each conversation once, and lines that name none.
  public func read() throws -> (conversations: [ConversationID], unreadable: [String]) {
    var conversations = [ConversationID]()
    var unreadable = [String]()
    for name in try names() {
      for line in try lines(of: name) {
        guard let conversation = try? ConversationID(line) else {
          unreadable.append("\(directory.path(of: escaped(name))): \(escaped(String(line.prefix(300))))")
          continue
        }
        if !conversations.contains(conversation) { conversations.append(conversation) }
      }
    }
    return (conversations, unreadable)
  }

  /// Writes an order down. When it returns the order is on the disk.
  public func add(_ conversations: [ConversationID]) throws {
    let text = conversations.map { "\($0)\n" }.joined()
    try directory.write(Array(text.utf8), as: "order-\(UUID().uuidString)")
    try directory.sync()
  }

  /// Strikes conversations out. When it returns nothing on the disk orders their deletion any more, nor names them here.
  public func strike(_ conversations: Set<ConversationID>) throws {
    for name in try names() {
      let lines = try lines(of: name)
      let rest = lines.filter { line in (try? ConversationID(line)).map { !conversations.contains($0) } ?? false }
      if rest.count == lines.count && !rest.isEmpty { continue }
      // A file that somebody is still writing is read again.
      if rest.isEmpty {
        try directory.remove(name)
      } else {
        try directory.write(Array(rest.map { "\($0)\n" }.joined().utf8), as: name)
      }
    }
    try directory.sync()
  }

  private func names() throws -> [String] {
    try directory.names().filter { name in
      guard !name.hasPrefix("."), try directory.entry(name)?.kind == .file else { return false }
      return (try? directory.file(name).hasWriter()) != true
    }
  }

  private func lines(of name: String) throws -> [String] {
    let bytes: [UInt8]?
    do { bytes = try directory.file(name).contents(limit: Self.longest) } catch {
      if error.isMissing { return [] }
      throw error
    }
    guard let bytes else {
      throw FileError("read as an order of less than 1 MiB", directory.path(of: name), code: EFBIG)
    }
    return String(decoding: bytes, as: UTF8.self).split(separator: "\n").map(String.init)
  }
}
