import ArgumentParser
import DurableFiles
import Foundation
import Ledgers
import Spooling

/// What a shell offers where a request or a conversation is due: names out of the spool that the line is about. Whoever
/// may not look into it is offered nothing, and is not told why in the middle of a line.
enum Completion {
  /// More than this nobody reads; a shell asks first.
  private static let limit = 500

  /// Requests that are not over yet, and drafts.
  static let waitingRequests = names { spool, beginning in
    try named(in: [spool.new, spool.draft], beginning)
      + ledger(spool).requests(beginning: beginning, waiting: true, limit: limit)
  }

  /// Every request that is remembered.
  static let requests = names { spool, beginning in
    try named(in: [spool.new, spool.draft], beginning)
      + ledger(spool).requests(beginning: beginning, waiting: false, limit: limit)
  }

  /// Requests that can be sent again.
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
      // zsh takes what stands behind a colon for an explanation.
      return CompletionShell.requesting == .zsh ? names.map { $0.replacing(":", with: "\\:") } : names
    }
  }

  /// bash expands what it is offered as if it had been typed: a conversation called `$(…)` would be carried out.
  private static func isPlain(_ name: String) -> Bool {
    name.utf8.allSatisfy { byte in
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"): true
      case UInt8(ascii: "0")...UInt8(ascii: "9"): true
      default: "._@:!+=,#%/-".utf8.contains(byte)
      }
    }
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

  /// The spool and configuration that the unfinished line names.
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
