import DurableFiles
import Messages

/// Entries of `new/` that may still be being built. Each is accepted after a time without changes, by a monotonic
/// clock.
struct SettlingEntries {
  private struct Entry {
    /// The latest change in the directory and its files at the last check, and the number of files.
    var signature: [Int64]
    var deadline: ContinuousClock.Instant
    let settle: Duration
    /// Set if the entry is complete and may have been renamed: later requests of its conversation wait with it.
    let conversation: ConversationID?
  }

  private var entries: [String: Entry] = [:]
  /// A bound against attacks; the next scan finds the rest.
  private static let limit = 10_000

  func contains(_ name: String) -> Bool { entries[name] != nil }
  /// The conversation that waits with the entry, if any.
  func conversation(waitingFor name: String) -> ConversationID? { entries[name]?.conversation }
  /// Conversations whose later requests wait.
  var conversations: Set<ConversationID> { Set(entries.values.compactMap(\.conversation)) }
  /// The earliest time at which an entry may have settled.
  var nextDeadline: ContinuousClock.Instant? { entries.values.map(\.deadline).min() }

  mutating func add(_ name: String, in new: Directory, settle seconds: Double, conversation: ConversationID? = nil) {
    guard entries[name] == nil, entries.count < Self.limit else { return }
    let settle = Duration.seconds(seconds)
    entries[name] = Entry(
      signature: Self.signature(of: name, in: new), deadline: .now + settle, settle: settle,
      conversation: conversation)
  }

  /// Takes the settled entries; changed ones get a new deadline. Returns names, and whether each was certainly built in
  /// place.
  mutating func takeSettled(in new: Directory) -> [(name: String, wasBuiltInPlace: Bool)] {
    let now = ContinuousClock.now
    var settled = [(name: String, wasBuiltInPlace: Bool)]()
    for (name, entry) in entries where entry.deadline <= now {
      let signature = Self.signature(of: name, in: new)
      if signature == entry.signature {
        settled.append((name, entry.conversation == nil))
        entries[name] = nil
      } else {
        entries[name]?.signature = signature
        entries[name]?.deadline = now + Self.rest(of: entry.settle, since: signature.first)
      }
    }
    return settled.sorted { $0.name < $1.name }
  }

  /// The rest of the settling time. The clock of the change may have been set meanwhile, so the next check is always
  /// soon.
  static func rest(of settle: Duration, since change: Int64?) -> Duration {
    let age = Duration.nanoseconds(Timestamp.now().milliseconds * 1_000_000 - (change ?? 0))
    return min(settle, max(settle - age, min(settle, shortest)))
  }

  private static let shortest = Duration.milliseconds(250)

  /// A value that changes with the directory and its files.
  static func signature(of name: String, in parent: Directory) -> [Int64] {
    guard let entry = try? parent.entry(name) else { return [] }
    var latest = max(entry.changed, entry.modified)
    var count: Int64 = 0
    if entry.kind == .directory, let directory = try? parent.directory(name) {
      try? directory.forEachName { bytes in
        count += 1
        if let file = try directory.entry(String(decoding: bytes, as: UTF8.self)) {
          latest = max(latest, file.changed, file.modified)
        }
        return count < 64
      }
    }
    return [latest, count, Int64(clamping: entry.inode)]
  }
}
