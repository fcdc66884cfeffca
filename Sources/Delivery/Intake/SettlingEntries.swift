import DurableFiles
import Messages

/// Entries of `new/` that may still be being built there. Each is taken once nothing in it changed for its settling time,
/// measured by a clock that nobody sets.
struct SettlingEntries {
  private struct Entry {
    /// The latest change in the directory and its files when it was last looked at, and how many files there were.
    var signature: [Int64]
    var deadline: ContinuousClock.Instant
    let settle: Duration
    /// Set when the entry is complete and may as well have been renamed: later requests of its conversation wait with it.
    let conversation: ConversationID?
  }

  private var entries: [String: Entry] = [:]
  /// More than a client makes by mistake; beyond it, the next scan finds the rest.
  private static let limit = 10_000

  func contains(_ name: String) -> Bool { entries[name] != nil }
  /// The conversation that waits with the entry; nil when none does.
  func conversation(waitingFor name: String) -> ConversationID? { entries[name]?.conversation }
  /// Conversations whose later requests have to wait.
  var conversations: Set<ConversationID> { Set(entries.values.compactMap(\.conversation)) }
  /// When the next entry may have settled.
  var nextDeadline: ContinuousClock.Instant? { entries.values.map(\.deadline).min() }

  mutating func add(_ name: String, in new: Directory, settle seconds: Double, conversation: ConversationID? = nil) {
    guard entries[name] == nil, entries.count < Self.limit else { return }
    let settle = Duration.seconds(seconds)
    entries[name] = Entry(
      signature: Self.signature(of: name, in: new), deadline: .now + settle, settle: settle,
      conversation: conversation)
  }

  /// Takes out the entries that have settled; those that changed get a new deadline.
  ///
  /// - Returns: their names, and whether each was surely built in place.
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

  /// How long a change has to be left alone yet. The clock that says when it was may have been set meanwhile, so that there
  /// is another look in any case, and none is far away.
  static func rest(of settle: Duration, since change: Int64?) -> Duration {
    let age = Duration.nanoseconds(Timestamp.now().milliseconds * 1_000_000 - (change ?? 0))
    return min(settle, max(settle - age, min(settle, shortest)))
  }

  private static let shortest = Duration.milliseconds(250)

  /// Changes whenever the directory or one of its files does.
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
