import ArgumentParser
import Composition
import DurableFiles
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
      The objects in `directory` stores come last. They count towards no limit: published objects stay there for \
      receivers that may still fetch them.
      """)

  @OptionGroup var options: SpoolOptions

  @Flag(name: .long, help: "Print one JSON object a line: the whole, then inboxes, then conversations.")
  var json = false

  func run() throws {
    let (settings, spool) = try options.configured()
    let objects = try settings.objectDirectories(of: spool).use()
    func printUse(_ use: StorageUse) throws {
      var use = use
      if use.inbox == nil { (use.objects, use.objectBytes) = (objects.objects, objects.bytes) }
      try print(use)
    }
    if let view = try LedgerView(of: spool) {
      try view.forEachUse(total: settings.cache.total, each: settings.cache.inbox, printUse)
    } else {
      try printUse(StorageUse(limit: settings.cache.total))
    }
    if !json, objects.objects > 0 {
      let count = counted(objects.objects, "object")
      Swift.print(Terminal.bold("stores: \(sizeInWords(objects.bytes)), \(count)") + ", which no limit counts")
    }
  }

  private func print(_ line: StorageUse) throws {
    if json { return try printJSON(line) }
    let name = [line.inbox ?? "all", line.conversation].compactMap { $0 }.map(escaped).joined(separator: " / ")
    var use = "\(sizeInWords(line.bytes))"
    if let limit = line.limit {
      use += " of \(sizeInWords(limit))"
      if limit > 0 { use += ", \(line.bytes * 100 / limit) %" }
      if line.bytes > limit { use += ", BEYOND THE LIMIT" }
    }
    let text = "\(name): \(use), \(counted(line.photos, "photo"))"
    Swift.print(line.conversation == nil ? Terminal.bold(text) : "  \(text)")
  }
}
