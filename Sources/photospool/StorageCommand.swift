import ArgumentParser
import DurableFiles
import Foundation
import Janitor
import Ledgers
import Messages
import Settings
import Spooling

struct StorageCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "storage", abstract: "Print what the photo cache uses, per inbox and conversation, against its limits."
  )

  @OptionGroup var options: SpoolOptions

  @Flag(name: .long, help: "Print one JSON object a line: the whole, then inboxes, then conversations.")
  var json = false

  func run() throws {
    let settings = try options.settings()
    guard let view = try LedgerView(of: Spool(opening: settings.spool.directory)) else {
      return try print(StorageLine(inbox: nil, conversation: nil, photos: 0, bytes: 0, limit: settings.cache.total))
    }
    let uses = try view.cacheUse()
    for use in uses {
      try print(
        StorageLine(
          inbox: use.inbox?.text, conversation: nil, photos: use.photos, bytes: use.bytes,
          limit: use.inbox == nil ? settings.cache.total : settings.cache.inbox))
    }
    try view.forEachConversationUse { use in
      try print(
        StorageLine(
          inbox: use.inbox, conversation: use.conversation, photos: use.photos, bytes: use.bytes, limit: nil))
    }
  }

  private func print(_ line: StorageLine) throws {
    if json { return try printJSON(line) }
    let name = [line.inbox ?? "all", line.conversation].compactMap { $0 }.map(escaped).joined(separator: " / ")
    var use = "\(Terminal.bytes(line.bytes))"
    if let limit = line.limit {
      use += " of \(Terminal.bytes(limit))"
      if limit > 0 { use += ", \(line.bytes * 100 / limit) %" }
      if line.bytes > limit { use += ", BEYOND THE LIMIT" }
    }
    let text = "\(name): \(use), \(line.photos) photo\(line.photos == 1 ? "" : "s")"
    Swift.print(line.conversation == nil ? Terminal.bold(text) : "  \(text)")
  }
}

/// One line of `storage --json`. The keys are never renamed once released.
private struct StorageLine: Encodable {
  /// Nil of the whole cache.
  let inbox: String?
  let conversation: String?
  let photos: Int
  let bytes: Int
  /// Nil of a conversation, which has none.
  let limit: Int?

  private enum CodingKeys: CodingKey { case inbox, conversation, photos, bytes, limit }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(inbox, forKey: .inbox)
    try container.encode(conversation, forKey: .conversation)
    try container.encode(photos, forKey: .photos)
    try container.encode(bytes, forKey: .bytes)
    try container.encode(limit, forKey: .limit)
  }
}
