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
    commandName: "storage",
    abstract: "Print what the photo cache uses, per inbox and conversation, against its limits.",
    discussion: """
      The objects that `directory` stores keep come last. No limit counts them: what was published stays there for those \
      who may still fetch it.
      """)

  @OptionGroup var options: SpoolOptions

  @Flag(name: .long, help: "Print one JSON object a line: the whole, then inboxes, then conversations.")
  var json = false

  func run() throws {
    let settings = try options.settings()
    let spool = try Spool(opening: settings.spool.directory)
    let objects = try settings.objectDirectories(of: spool).use()
    let view = try LedgerView(of: spool)
    for use in try view?.cacheUse() ?? [CacheUse(inbox: nil, photos: 0, bytes: 0)] {
      let isWhole = use.inbox == nil
      try print(
        StorageLine(
          inbox: use.inbox?.text, conversation: nil, photos: use.photos, bytes: use.bytes,
          limit: isWhole ? settings.cache.total : settings.cache.inbox, objects: isWhole ? objects : nil))
    }
    try view?.forEachConversationUse { use in
      try print(
        StorageLine(
          inbox: use.inbox, conversation: use.conversation, photos: use.photos, bytes: use.bytes, limit: nil,
          objects: nil))
    }
    if !json, objects.objects > 0 {
      let count = "\(objects.objects) object\(objects.objects == 1 ? "" : "s")"
      Swift.print(Terminal.bold("stores: \(Terminal.bytes(objects.bytes)), \(count)") + ", which no limit counts")
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
  /// What `directory` stores keep; nil but of the whole.
  let objects: (objects: Int, bytes: Int)?

  private enum CodingKeys: CodingKey { case inbox, conversation, photos, bytes, limit, objects, objectBytes }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(inbox, forKey: .inbox)
    try container.encode(conversation, forKey: .conversation)
    try container.encode(photos, forKey: .photos)
    try container.encode(bytes, forKey: .bytes)
    try container.encode(limit, forKey: .limit)
    try container.encodeIfPresent(objects?.objects, forKey: .objects)
    try container.encodeIfPresent(objects?.bytes, forKey: .objectBytes)
  }
}
