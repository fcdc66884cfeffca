import GRDB
import Messages

/// Present numbers, and totals over all restarts. Asking goes through indexes of what waits: a few thousandths of a second
/// for a hundred thousand.
package struct Counts: Sendable, Equatable {
  /// Waiting messages without drafts, by state.
  package let waiting: [MessageState: Int]
  package let drafts: Int
  /// Conversations with waiting messages; the held ones, and those that wait for a destination.
  package let conversations: Int
  package let heldConversations: Int
  package let parkedConversations: Int
  /// When the oldest waiting request was accepted; nil if none waits.
  package let oldest: Timestamp?

  // Totals, which only grow.

  /// Accepted requests; a retried one counts again.
  package let accepted: Int
  package let ended: [RequestState: Int]
  package let sent: [MessageKind: Int]
  package let lastSent: Timestamp?
  package let setbacks: [Cause: Int]
  package let preparedPhotos: Int
  /// Bytes of those photos as dropped and as sent.
  package let originalBytes: Int
  package let preparedBytes: Int
  /// Evicted originals and thumbnails, and their bytes.
  package let evicted: EvictionCount
  /// Views of photos in the cache, and of photos that had to be fetched again.
  package let viewsOfCached: Int
  package let viewsOfFetched: Int
  /// The end of the janitor's last run.
  package let janitorRan: Timestamp?

  /// The use of the whole cache, then of every inbox with photos.
  package let cache: [CacheUse]

  /// Photos announced by others, by state, without purged ones.
  package let received: [ReceivedState: Int]
  /// Announced photos, downloads, and failed downloads by cause. Sent photos that are fetched again count as downloads.
  package let announced: Int
  package let downloads: Int
  package let downloadSetbacks: [Cause: Int]

  static let ends: [RequestState] = [.sent, .failed, .cancelled, .duplicate]
}

extension Counts {
  init(_ database: Database) throws {
    var values = [String: Int]()
    let rows: [(String, Int)] = try database.all("SELECT name, value FROM counts") { ($0["name"], $0["value"]) }
    for (name, value) in rows { values[name] = value }
    func value(_ name: String) -> Int { values[name] ?? 0 }
    func all<Key: RawRepresentable<String>>(_ keys: [Key], _ prefix: String) -> [Key: Int] {
      Dictionary(uniqueKeysWithValues: keys.map { ($0, value("\(prefix).\($0.rawValue)")) })
    }
    let conversations = try database.waitingConversations()
    self.conversations = conversations.all
    heldConversations = conversations.held
    parkedConversations = conversations.parked
    waiting = try database.waitingMessages(conversations.messages)
    drafts = try database.value("SELECT count(*) FROM requests WHERE state = 'draft'") ?? 0
    oldest = try database.value("SELECT accepted_at FROM requests WHERE state = 'queued' ORDER BY accepted_at LIMIT 1")
    accepted = value("requests.queued")
    ended = all(Self.ends, "requests")
    sent = all(MessageKind.allCases, "sent")
    lastSent = value("last_sent") > 0 ? Timestamp(milliseconds: Int64(value("last_sent"))) : nil
    setbacks = all(Cause.allCases, "setbacks").filter { $0.value > 0 }
    preparedPhotos = value("prepared")
    originalBytes = value("prepared.original_bytes")
    preparedBytes = value("prepared.bytes")
    var evicted = EvictionCount()
    evicted.photos = value("evicted.photos")
    evicted.thumbnails = value("evicted.thumbnails")
    evicted.bytes = value("evicted.bytes")
    self.evicted = evicted
    viewsOfCached = value("views.cache")
    viewsOfFetched = value("views.fetched")
    janitorRan = value("janitor_ran") > 0 ? Timestamp(milliseconds: Int64(value("janitor_ran"))) : nil
    cache = try database.cacheUse()
    received = all(ReceivedState.allCases, "received")
    announced = value("received")
    downloads = value("downloads")
    downloadSetbacks = all(Cause.allCases, "download_setbacks").filter { $0.value > 0 }
  }
}

extension Database {
  /// Waiting messages by state. Those in progress are counted; the rest is pending.
  fileprivate func waitingMessages(_ all: Int) throws -> [MessageState: Int] {
    var states = Dictionary(uniqueKeysWithValues: MessageState.allCases.filter { !$0.isFinal }.map { ($0, 0) })
    let inProgress: [(MessageState?, Int)] = try self.all(
      """
      SELECT state, count(*) AS count FROM messages INDEXED BY messages_in_progress
      WHERE draft = 0 AND \(LedgerSchema.inProgress) GROUP BY state
      """
    ) { ($0["state"], $0["count"]) }
    for case (let state?, let count) in inProgress { states[state] = count }
    states[.pending] = all - inProgress.reduce(0) { $0 + $1.1 }
    return states
  }

  /// Conversations in which something waits. Each half goes through an index of nothing else.
  fileprivate func waitingConversations() throws -> (all: Int, held: Int, parked: Int, messages: Int) {
    try first(
      """
      SELECT count(*) AS conversations, coalesce(sum(held), 0) AS held, coalesce(sum(waits_for IS NOT NULL), 0) AS parked,
        coalesce(sum(waiting), 0) AS messages FROM (
        SELECT 0 AS held, waits_for, waiting FROM conversations WHERE waiting > 0 AND held = 0
        UNION ALL SELECT 1, waits_for, waiting FROM conversations WHERE held <> 0 AND waiting > 0)
      """
    ) { ($0["conversations"], $0["held"], $0["parked"], $0["messages"]) } ?? (0, 0, 0, 0)
  }
}

extension Ledger {
  package func counts() async throws -> Counts { try await read { try Counts($0) } }
}

extension LedgerView {
  package func counts() throws -> Counts { try read { try Counts($0) } }
}
