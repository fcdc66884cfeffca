import HTTP
import Matrix
import Messages
import Synchronization

/// Listens to the rooms of one account with a long `/sync`. It begins with messages sent after its start, and then
/// misses none: if a room has more messages than one answer holds, the others are read first, page by page. A position
/// is the account and the homeserver's token.
package final class MatrixListener: Listener {
  package let name: String
  private let server: MatrixServer
  private let patientServer: MatrixServer
  private let rooms: MatrixRooms
  private let history: MatrixHistory
  private let conversations: HeardConversations
  /// nil if nothing is to be decrypted.
  private let keys: MatrixKeyRing?
  private let encryption: MatrixEncryption
  private let clock: @Sendable () -> Timestamp
  private let log: @Sendable (String) -> Void
  private let known = Mutex(Known())

  /// Cached answers, dropped after a failure.
  private struct Known {
    /// The rooms that routes name; nil before the lookup.
    var rooms: Rooms?
    /// Rooms that were upgraded. An alias that leads to one is looked up each time, because it moves a little later.
    var upgraded: Set<String> = []
    /// The homeserver's filter ids, by limit.
    var filters: [Int: String] = [:]
    /// Whether a room that is listened to is encrypted; nil before the look.
    var hasEncrypted: Bool?
    /// The last request succeeded.
    var isWell = false
  }

  private struct Rooms {
    var conversations: [String: ConversationID] = [:]
    var ids: [Address: String] = [:]
    let askedAt: Timestamp
  }

  /// Seconds that the homeserver may wait for messages.
  private static let patience = 30.0
  /// Messages per room in one answer, decreasing after answers that were too large.
  private static let limits = [50, 10, 1]
  /// The size limit of an answer; the last attempt allows more.
  private static let bytes = 4 << 20
  private static let mostBytes = 16 << 20
  /// The same of a `/sync`: strangers' messages to the device must not end listening for good.
  private static let mostSyncBytes = 64 << 20

  /// - Parameters:
  ///   - keys: those of the device to which encrypted events come.
  ///   - log: gets a sentence for everything skipped.
  /// - Throws: `.configError` for an invalid URL.
  package init(
    name: String, _ account: MatrixAccount, conversations: HeardConversations,
    encryptedRooms: EncryptedRooms = EncryptedRooms(), keys: MatrixRoomKeys? = nil, client: HTTPClient,
    limits: HTTPLimits = HTTPLimits(), clock: @escaping @Sendable () -> Timestamp = { .now() },
    log: @escaping @Sendable (String) -> Void
  ) throws(DeliveryError) {
    self.name = name
    self.conversations = conversations
    self.clock = clock
    self.log = log
    server = try MatrixServer(account, for: .room, client: client, limits: limits)
    var patient = limits
    patient.stall += .seconds(Self.patience)
    patient.total = limits.total.map { $0 + .seconds(Self.patience) }
    patientServer = try MatrixServer(account, for: .room, client: client, limits: patient)
    rooms = MatrixRooms(server, clock: clock)
    history = MatrixHistory(server)
    encryption = MatrixEncryption(server: server, known: encryptedRooms)
    self.keys = if let keys { MatrixKeyRing(server, keys, log: log) } else { nil }
  }

  package func listen(
    after position: String?, deliver: @Sendable ([Arrival]) async throws -> Void
  ) async throws -> String {
    do {
      let account = try await history.userID()
      let heard = try await heardRooms()
      try await lookForEncryption(heard)
      let start = position.flatMap { MatrixPosition($0, account: account) }
      guard let start else { return try await begin(account, heard) }
      guard let answer = try await sync(account, since: start.token) else {
        log("\(server.name) does not know any more how far it was listened to; what came since then is passed over")
        return try await begin(account, heard)
      }
      try await takeKeys(answer, heard)
      if hasEncrypted {
        try await keys?.openDue { events, room in
          guard let conversation = conversation(of: room, heard) else { return }
          try await hand(events, of: room, conversation, account, deliver)
        }
      }
      for (room, timeline) in answer.rooms {
        guard let conversation = conversation(of: room, heard) else { continue }
        if let before = timeline.gapEnd {
          try await readPages(of: room, conversation, account, from: start.token, to: before, deliver)
        }
        try await hand(timeline.events, of: room, conversation, account, deliver)
      }
      return try await finish(answer, of: account)
    } catch {
      known.withLock { $0 = Known() }
      if Task.isCancelled { throw CancellationError() }
      throw error
    }
  }

  /// Gets the current position.
  private func begin(_ account: String, _ heard: [String: ConversationID]) async throws -> String {
    guard let answer = try await sync(account, since: nil) else {
      throw DeliveryError(.configError, "\(server.name) refuses to be listened to; ask its operator")
    }
    try await takeKeys(answer, heard)
    return try await finish(answer, of: account)
  }

  /// Gives the keys that an answer asks for. Returns the position behind it.
  private func finish(_ answer: MatrixSync, of account: String) async throws -> String {
    if let keys, hasEncrypted {
      try await keys.give(answer)
      try await keys.reopenSessions()
    }
    known.withLock { $0.isWell = true }
    return MatrixPosition(account: account, token: answer.next).description
  }

  // MARK: Rooms

  private func conversation(of room: String, _ heard: [String: ConversationID]) -> ConversationID? {
    heard[room] ?? conversations.conversation(at: Address(unchecked: room))
  }

  /// The rooms that routes name, by id. A missing one is logged, and the others are heard. Aliases are looked up again
  /// as often as for sending, and once their room is upgraded.
  private func heardRooms() async throws -> [String: ConversationID] {
    let (former, upgraded) = known.withLock { ($0.rooms, $0.upgraded) }
    let now = clock()
    if let former, abs(now.seconds(since: former.askedAt)) < MatrixRooms.memory,
      upgraded.isDisjoint(with: former.ids.values)
    {
      return former.conversations
    }
    var found = Rooms(askedAt: now)
    for named in conversations.named {
      guard let id = try await room(of: named, formerly: former?.ids[named.address]) else { continue }
      found.ids[named.address] = id
      if found.conversations[id] == nil { found.conversations[id] = named.conversation }
    }
    known.withLock { [found] known in
      if found.conversations != former?.conversations {
        known.filters = [:]
        known.hasEncrypted = nil
      }
      known.rooms = found
    }
    return found.conversations
  }

  /// - Parameter former: the room that counts while nobody can say where the alias leads.
  /// - Returns: nil if there is no such room.
  private func room(
    of named: (address: Address, conversation: ConversationID), formerly former: String?
  ) async throws -> String? {
    rooms.forget(named.address)
    do { return try await rooms.id(of: named.address) } catch {
      guard error.cause.disposition == .fail else {
        if let former { return former }
        throw error
      }
      log("the conversation \(named.conversation) is not listened to: \(error.sentence)")
      return nil
    }
  }

  // MARK: Encryption

  private var hasEncrypted: Bool { known.withLock { $0.hasEncrypted == true } }

  /// Asks once which rooms are encrypted, so that others find our keys before the first message.
  private func lookForEncryption(_ heard: [String: ConversationID]) async throws {
    guard keys != nil, known.withLock({ $0.hasEncrypted }) == nil else { return }
    var all = Array(heard.keys)
    if conversations.others != nil {
      let joined: [String] = try server.need(
        "joined_rooms", of: await server.ask(.get, "/_matrix/client/v3/joined_rooms"))
      all = joined.filter { conversation(of: $0, heard) != nil }
    }
    var isOn = false
    for room in all where !isOn {
      do throws(DeliveryError) { isOn = try await encryption.isOn(in: room.percentEncoded()) } catch {
        guard error.cause.disposition == .fail else { throw error }
      }
    }
    known.withLock { [isOn] in $0.hasEncrypted = isOn }
  }

  private func takeKeys(_ answer: MatrixSync, _ heard: [String: ConversationID]) async throws {
    guard let keys else { return }
    let isEncrypted = answer.rooms.contains { room, timeline in
      timeline.isEncrypted && conversation(of: room, heard) != nil
    }
    if isEncrypted { known.withLock { $0.hasEncrypted = true } }
    guard hasEncrypted else { return }
    try await keys.take(answer) { [self] room in conversation(of: room, heard) != nil }
  }

  // MARK: Asking

  /// - Returns: nil if the homeserver does not know `since`.
  private func sync(_ account: String, since: String?, isRepeated: Bool = false) async throws -> MatrixSync? {
    // After a failure, ask without waiting to learn quickly whether it is over.
    let waits = since != nil && known.withLock(\.isWell)
    for limit in Self.limits {
      let filter = try await filter(account, limit: limit)
      var path = "/_matrix/client/v3/sync?filter=\(filter.percentEncoded())&set_presence=offline"
      path += "&timeout=\(waits ? Int(Self.patience * 1000) : 0)"
      if let since { path += "&since=\(since.percentEncoded())" }
      let isLast = limit == Self.limits.last
      let answer = try await ask(waits ? patientServer : server, path, bytes: isLast ? Self.mostSyncBytes : Self.bytes)
      guard let answer else { continue }
      if let sync = MatrixSync(answer) { return sync }
      guard since != nil, answer.status == 400, answer.code != nil else { throw error(answer) }
      // Homeservers use several codes for that, and the same for a forgotten filter.
      if isRepeated { return nil }
      known.withLock { $0.filters = [:] }
      return try await sync(account, since: since, isRepeated: true)
    }
    throw DeliveryError(
      .serverBusy, "\(server.name) answers with more than \(Self.mostSyncBytes) bytes of news; listen to fewer rooms")
  }

  private func filter(_ account: String, limit: Int) async throws -> String {
    if let id = known.withLock({ $0.filters[limit] }) { return id }
    let rooms = conversations.others == nil ? known.withLock(\.rooms)?.conversations.keys.sorted() ?? [] : nil
    let answer = try await server.ask(
      .post, "/_matrix/client/v3/user/\(account.percentEncoded())/filter",
      Array(MatrixFilter(rooms: rooms, limit: limit).description.utf8))
    guard answer.isSuccess, let id: String = answer.member("filter_id") else { throw error(answer) }
    known.withLock { $0.filters[limit] = id }
    return id
  }

  /// - Returns: nil if the answer was too large.
  private func ask(_ server: MatrixServer, _ path: String, bytes: Int) async throws -> MatrixAnswer? {
    do { return try await server.send(.get, path, replyBytes: bytes) } catch {
      if case .replyTooLarge = error.reason { return nil }
      throw server.faults.error(error)
    }
  }

  /// Refusals of messages become refusals of listening.
  private func error(_ answer: MatrixAnswer) -> DeliveryError {
    let error = server.faults.error(answer)
    guard error.cause.disposition == .fail else { return error }
    let word = answer.code.map { " \($0)" } ?? ""
    return DeliveryError(
      .configError, "\(server.name) refuses to be listened to (\(answer.status)\(word)); ask its operator")
  }

  // MARK: Messages

  private func hand(
    _ events: [JSONValue], of room: String, _ conversation: ConversationID, _ account: String,
    _ deliver: @Sendable ([Arrival]) async throws -> Void
  ) async throws {
    if events.contains(where: { $0["type"]?.text == "m.room.tombstone" && $0["state_key"]?.text == "" }) {
      known.withLock { _ = $0.upgraded.insert(room) }
    }
    let events = try await keys?.open(events, in: room, account: account) ?? events
    let arrivals = events.compactMap { Arrival($0, in: room, as: conversation, account: account) }
    if !arrivals.isEmpty { try await deliver(arrivals) }
  }

  /// Reads the messages of a room that the answer lacks, oldest first, page by page.
  private func readPages(
    of room: String, _ conversation: ConversationID, _ account: String, from start: String, to end: String,
    _ deliver: @Sendable ([Arrival]) async throws -> Void
  ) async throws {
    var pages = MatrixPages(room: room, from: start, to: end)
    while let path = pages.path {
      guard let answer = try await ask(server, path, bytes: pages.isNarrowest ? Self.mostBytes : Self.bytes) else {
        if pages.narrow() { continue }
        return log("messages of \(conversation) are passed over: a page of them is too large")
      }
      guard let page = MatrixPages.Page(answer) else {
        let fault = server.faults.error(answer)
        guard fault.cause.disposition == .fail else { throw fault }
        return log("messages of \(conversation) are passed over: \(fault.sentence)")
      }
      try await hand(page.events, of: room, conversation, account, deliver)
      pages.turn(page)
    }
    if pages.isCutOff {
      log("messages of \(conversation) are passed over: more than \(MatrixPages.most) came while nobody listened")
    }
  }
}
