import DurableFiles
import Foundation
import Messages

/// The files of `purge/`, each with conversations to delete, one a line. An order stands until it is struck out,
/// however often its execution is interrupted. A line that names no conversation stays for somebody to fix.
package struct PurgeOrders: Sendable {
  private let spool: Spool
  private var directory: Directory { spool.purge }

  package init(_ spool: Spool) { self.spool = spool }

  /// The conversations, each once, and a sentence for each invalid line or file.
  package func read() throws -> (conversations: [ConversationID], unreadable: [String]) {
    var conversations = [ConversationID]()
    var (files, unreadable) = try OrderFile.all(in: directory)
    for file in files {
      for line in file.lines {
        guard let conversation = try? ConversationID(line) else {
          let place = escaped(directory.path(of: file.name))
          unreadable.append(
            "\(place): \(escaped(String(line.prefix(300)))) names no conversation; correct or remove that line")
          continue
        }
        if !conversations.contains(conversation) { conversations.append(conversation) }
      }
    }
    return (conversations, unreadable)
  }

  /// Writes an order durably.
  package func add(_ conversations: [ConversationID]) throws {
    let text = conversations.map { "\($0)\n" }.joined()
    try directory.write(Array(text.utf8), as: "order-\(UUID().uuidString)")
    try directory.sync()
  }

  /// Strikes conversations out durably.
  package func strike(_ conversations: Set<ConversationID>) throws {
    for file in try OrderFile.all(in: directory).files {
      let rest = file.lines.filter { line in (try? ConversationID(line)).map { !conversations.contains($0) } ?? true }
      if rest.isEmpty {
        try file.remove(from: directory, of: spool)
      } else if rest.count < file.lines.count {
        try directory.write(Array(rest.map { "\($0)\n" }.joined().utf8), as: file.name)
      }
    }
    try directory.sync()
  }
}
