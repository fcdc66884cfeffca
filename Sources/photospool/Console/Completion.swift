import ArgumentParser
import DurableFiles
import Foundation
import Ledgers
import Messages
import Spooling

/// Completion of requests and conversations from the command line's spool. Without access to it there are none, and no
/// error in the middle of a line.
enum Completion {
  /// The most candidates; a shell asks before it shows more.
  private static let limit = 500

  /// Unfinished requests, and drafts.
  static let waitingRequests = names { spool, beginning in
    try named(in: [spool.new, spool.draft], beginning)
      + ledger(spool).requests(beginning: beginning, waiting: true, limit: limit)
  }

  static let requests = names { spool, beginning in
    try named(in: [spool.new, spool.draft], beginning)
      + ledger(spool).requests(beginning: beginning, waiting: false, limit: limit)
  }

  static let failedRequests = names { spool, beginning in try named(in: [spool.failed], beginning) }

  static let conversations = names { try ledger($0).conversations(beginning: $1, limit: limit) }
  static let heldConversations = names { try ledger($0).conversations(beginning: $1, held: true, limit: limit) }
  static let otherConversations = names { try ledger($0).conversations(beginning: $1, held: false, limit: limit) }

  private static func names(
    _ find: @escaping @Sendable (Spool, _ beginning: String) throws -> [String]
  ) -> CompletionKind {
    .custom { words, _, beginning in
      guard let spool = try? options(in: words).openSpool(complains: false), let found = try? find(spool, beginning)
      else { return [] }
      let names = Set(found).filter { $0.hasPrefix(beginning) && isPlain($0) }.sorted()
      // zsh takes the text after a colon as a description.
      return CompletionShell.requesting == .zsh ? names.map { $0.replacing(":", with: "\\:") } : names
    }
  }

  /// Whether bash can offer the name safely. It expands candidates: a conversation named `$(…)` would be executed.
  private static func isPlain(_ name: String) -> Bool {
    name.utf8.allSatisfy { $0.isAlphanumeric || "._@:!+=,#%/-".utf8.contains($0) }
  }

  private static func ledger(_ spool: Spool) throws -> LedgerView { try LedgerView(in: spool.state) }

  private static func named(in directories: [Directory], _ beginning: String) throws -> [String] {
    var names = [String]()
    for directory in directories {
      try directory.forEachName { name in
        if let name = RequestName(String(decoding: name, as: UTF8.self))?.text, name.hasPrefix(beginning) {
          names.append(name)
        }
        return names.count < limit
      }
    }
    return names
  }

  /// The spool and configuration in the unfinished line.
  private static func options(in words: [String]) throws -> SpoolOptions {
    var arguments = [String]()
    for name in ["--spool", "--config"] {
      for (index, word) in words.enumerated() {
        if word == name, index + 1 < words.count { arguments += [word, words[index + 1]] }
        if word.hasPrefix(name + "=") { arguments.append(word) }
      }
    }
    return try SpoolOptions.parse(arguments)
  }
}
