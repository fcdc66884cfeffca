import HTTP
import Matrix
import Messages
import RoomKeys
import Synchronization

/// Opens the encrypted events of an account's rooms: takes the keys that other devices send, and gives out keys with
/// which they can.
///
/// Everything that an answer of `/sync` brings is durable before the listener moves on. Keys are given out once the first
/// encrypted room is known.
final class MatrixKeyRing: Sendable {
  /// Rooms' members are asked for again after so many seconds.
  private static let memory = 60.0
  private static let memberBytes = 16 << 20

  private let server: MatrixServer
  private let files: MatrixKeyFiles
  private let devices: MatrixDeviceList
  private let device: @Sendable () async throws(DeliveryError) -> OwnDevice
  private let stored: @Sendable () async throws(DeliveryError) -> OwnDevice?
  private let reopen: @Sendable (Set<UnreadableSender>) async throws(DeliveryError) -> Void
  private let log: @Sendable (String) -> Void
  private let state = Mutex(State())

  private struct State {
    /// The members of rooms, and when they were asked for.
    var members: [String: (users: Set<String>, askedAt: Timestamp)] = [:]
    /// The last sentence about our own device, so that it is said once.
    var said: String?
  }

  /// - Parameters:
  ///   - server: with the token of `device`.
  ///   - device: the account's device, published.
  ///   - stored: the device with its stored keys, published or not; nil without keys.
  ///   - reopen: opens new sessions with devices whose messages cannot be opened.
  init(
    _ server: MatrixServer, files: MatrixKeyFiles, devices: MatrixDeviceList,
    device: @escaping @Sendable () async throws(DeliveryError) -> OwnDevice,
    stored: @escaping @Sendable () async throws(DeliveryError) -> OwnDevice?,
    reopen: @escaping @Sendable (Set<UnreadableSender>) async throws(DeliveryError) -> Void,
    log: @escaping @Sendable (String) -> Void
  ) {
    self.server = server
    self.files = files
    self.devices = devices
    self.device = device
    self.stored = stored
    self.reopen = reopen
    self.log = log
  }

  // MARK: Taking

  /// Takes the keys among an answer's messages to the device, also while somebody has to do something for the device
  /// first: the homeserver gives them only once.
  ///
  /// - Parameter isHeard: whether a room is listened to.
  /// - Throws: if there is an encrypted message, and there are no keys to open it.
  func take(_ sync: MatrixSync, isHeard: @escaping @Sendable (String) -> Bool) async throws(DeliveryError) {
    if sync.toDevice.isEmpty { return }
    guard let device = try await receiver(of: sync.toDevice) else { return }
    let file = try await files.keys()
    for room in try await file.take(sync.toDevice, for: device, now: .now(), isHeard: isHeard) {
      if let members = await members(of: room) { try await file.note(members, of: room) }
    }
    try await file.prune(now: .now())
  }

  /// The device that opens these messages; nil if none of them is encrypted and it is not ready.
  private func receiver(of events: [JSONValue]) async throws(DeliveryError) -> OwnDevice? {
    do throws(DeliveryError) { return try await device() } catch {
      if error.cause.disposition == .retry { throw error }
      guard events.contains(where: { $0["type"]?.text == "m.room.encrypted" }) else { return nil }
      guard let stored = try await stored() else { throw error }
      return stored
    }
  }

  /// Opens the encrypted events among `events` and keeps those whose key is not there yet.
  ///
  /// - Returns: the other events and the opened ones, in order.
  func open(_ events: [JSONValue], in room: String, account: String) async throws(DeliveryError) -> [JSONValue] {
    // Our own events need no key, and nobody gave us one.
    let encrypted = events.compactMap { EncryptedEvent($0, in: room) }.filter { $0.sender != account }
    if encrypted.isEmpty { return events }
    let file = try await files.keys()
    let opened = try await read(encrypted, file)
    if opened.count < encrypted.count { try await file.prune(now: .now()) }
    return events.compactMap { event in
      event["type"]?.text == "m.room.encrypted" ? event["event_id"]?.text.flatMap { opened[$0] } : event
    }
  }

  /// Opens events that waited and whose keys are there now, part by part, and hands them on with their rooms.
  func openDue(_ hand: ([JSONValue], String) async throws -> Void) async throws {
    let file = try await files.keys()
    while true {
      let due = try await file.due(now: .now())
      if due.isEmpty { return }
      // They are removed with the opening, so they are handed on first; each message is received once by its id.
      let opened = try await read(due, file, keeping: true)
      for event in due { if let content = opened[event.id] { try await hand([content], event.room) } }
      try await file.done(due.filter { opened[$0.id] != nil })
    }
  }

  /// The opened events, by id.
  private func read(
    _ events: [EncryptedEvent], _ file: KeyFile, keeping: Bool = false
  ) async throws(DeliveryError) -> [String: JSONValue] {
    let outcomes = try await file.open(events, devices: devices, now: .now(), keeping: keeping)
    var opened: [String: JSONValue] = [:]
    for (event, outcome) in zip(events, outcomes) {
      switch outcome {
      case .opened(let content): opened[event.id] = content
      case .waits: break
      case .refused(let refusal): log("an encrypted message of \(escaped(event.sender)) is passed over: \(refusal)")
      }
    }
    return opened
  }

  // MARK: Giving

  /// Gives the homeserver keys for other devices where it lacks some. A failure is logged: listening goes on, and the
  /// next answer tries again.
  func give(_ sync: MatrixSync) async throws {
    do throws(DeliveryError) {
      let pinned = server.pinned
      guard let device = try await ownDevice() else { return }
      // After a new login, the next answer is that of the new device.
      guard pinned.hasToken(of: server) else { return }
      let file = try await files.keys()
      guard
        let offer = try await file.offer(
          count: sync.oneTimeKeys, needsFallback: sync.needsFallback, for: device, now: .now())
      else { return }
      let answer = try await pinned.ask(.post, "/_matrix/client/v3/keys/upload", offer.body)
      guard answer.isSuccess else { throw server.faults.error(answer) }
      try await file.confirm(offer, now: .now())
    } catch {
      if Task.isCancelled { throw CancellationError() }
      log("no keys are given to other devices: \(error.sentence)")
    }
  }

  /// Opens new sessions with members' devices whose messages could not be opened: after a loss of keys here or there, they
  /// would send over the lost session for good. A failure is logged.
  func reopenSessions() async throws {
    do throws(DeliveryError) {
      let senders = try await files.keys().takeUnreadable(now: .now())
      if senders.isEmpty { return }
      let users = Set(senders.map(\.user)).sorted().prefix(20).map { escaped($0) }
      log("keys of \(users.joined(separator: ", ")) cannot be opened; new sessions are opened with their devices")
      try await reopen(senders)
    } catch {
      if Task.isCancelled { throw CancellationError() }
      log("no new sessions are opened with other devices: \(error.sentence)")
    }
  }

  /// Our device; nil, said once, if somebody has to do something first. Events whose keys do not come wait meanwhile.
  private func ownDevice() async throws(DeliveryError) -> OwnDevice? {
    do throws(DeliveryError) {
      let device = try await device()
      state.withLock { $0.said = nil }
      return device
    } catch {
      if error.cause.disposition == .retry { throw error }
      let isNew = state.withLock { state in
        defer { state.said = error.sentence }
        return state.said != error.sentence
      }
      if isNew { log("no keys are given to other devices yet: \(error.sentence)") }
      return nil
    }
  }

  /// The joined members of a room; nil if the homeserver does not say.
  private func members(of room: String) async -> Set<String>? {
    let now = Timestamp.now()
    if let known = state.withLock({ $0.members[room] }), abs(now.seconds(since: known.askedAt)) < Self.memory {
      return known.users
    }
    let path = "/_matrix/client/v3/rooms/\(room.percentEncoded())/joined_members"
    guard let answer = try? await server.ask(.get, path, replyBytes: Self.memberBytes), answer.isSuccess,
      let joined = answer.json?["joined"]?.members
    else { return nil }
    let users = Set(joined.keys)
    state.withLock { state in
      if state.members.count >= 100 { state.members.removeAll() }
      state.members[room] = (users, now)
    }
    return users
  }
}
