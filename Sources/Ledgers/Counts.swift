import GRDB
import Messages

/// What is counted all the time; asking costs the same however much waits.
public struct Counts: Sendable, Equatable {
  /// Messages that wait, drafts not among them, by state.
  public let waiting: [MessageState: Int]
  public let drafts: Int
  /// Conversations in which something waits; and those of them that are held, or wait for a destination.
  public let conversations: Int
  public let heldConversations: Int
  public let parkedConversations: Int
  /// When the request was accepted that waits longest; nil when none waits.
  public let oldest: Timestamp?

  // What follows only grows, over all restarts.

  /// Requests that were accepted to be sent; one that is retried counts again.
  public let accepted: Int
  /// Requests that came to an end, by state.
  public let ended: [RequestState: Int]
  public let sent: [MessageKind: Int]
  public let lastSent: Timestamp?
  /// How often a message could not go on, by cause.
  public let setbacks: [Cause: Int]
  public let preparedPhotos: Int
  /// Bytes of those photos as they were dropped, and as they are sent.
  public let originalBytes: Int
  public let preparedBytes: Int
  /// Photos whose originals, and such whose thumbnails, were evicted from the cache, and the bytes of all.
  public let evicted: EvictionCount
  /// How often a photo was looked at that was in the cache, and that had been fetched again for it.
  public let viewsOfCached: Int
  public let viewsOfFetched: Int
  /// When the janitor last ended a pass.
  public let janitorRan: Timestamp?

  /// The use of the whole cache first, then that of every inbox that has something there.
  public let cache: [CacheUse]

  /// Photos that others announced, by state; what was purged is not among them.
  public let received: [ReceivedState: Int]
  /// How many others ever announced, how many photos ever came into the cache, and how often one did not, by cause. Photos
  /// that were sent from here and are fetched again count as downloads.
  public let announced: Int
  public let downloads: Int
  public let downloadSetbacks: [Cause: Int]

  /// The ways a request ends.
  static let ends: [RequestState] = [.sent, .failed, .cancelled, .duplicate]
}

extension Counts {
  init(_ database: Database) throws {
    var values = [String: Int]()
    for row in try Row.fetchAll(
      database.kept("SELECT name, value FROM counts"))
    { values[row["name"]] = row["value"] }
    func value(_ name: String) -> Int { values[name] ?? 0 }
    func all<Key: RawRepresentable<String>>(_ keys: [Key], _ prefix: String) -> [Key: Int] {
      Dictionary(uniqueKeysWithValues: keys.map { ($0, value("\(prefix).\($0.rawValue)")) })
    }
    waiting = all(MessageState.allCases.filter { !$0.isFinal }, "messages")
    drafts = value("drafts")
    conversations = value("conversations.waiting")
    heldConversations = value("conversations.held")
    parkedConversations = value("conversations.parked")
    oldest = try Int64.fetchOne(
      database.kept("SELECT accepted_at FROM requests WHERE state = 'queued' ORDER BY accepted_at LIMIT 1")
    ).map(Timestamp.init(milliseconds:))
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
  /// Adds to a count.
  func count(_ name: String, _ more: Int) throws {
    if more == 0 { return }
    try run(
      "INSERT INTO counts VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = value + excluded.value", name, more)
  }
}

extension Ledger {
  public func counts() async throws -> Counts { try await read { try Counts($0) } }
}

extension LedgerView {
  public func counts() throws -> Counts { try read { try Counts($0) } }
}
