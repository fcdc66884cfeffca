import HTTP
import Matrix
import Messages
import Olm
import Synchronization

/// The devices of users. An answer is kept for half a minute, so that messages in a row ask once.
///
/// Master keys are trusted on first use, and remembered on disk. A changed one is announced once, as an error of the
/// message, and trusted with the next attempt.
final class MatrixDeviceList: Sendable {
  private let server: MatrixServer
  private let files: MatrixKeyFiles
  private let clock: @Sendable () -> Timestamp
  private let log: @Sendable (String) -> Void
  private let turns = KeyedMutex()
  private let known = Mutex<[String: (keys: MatrixUserKeys, askedAt: Timestamp)]>([:])

  /// Seconds for which devices are not asked for again.
  static let memory = 30.0
  /// Users in one request, and users and devices in memory.
  private static let page = 100
  private static let most = 10_000
  private static let mostDevices = 20_000
  private static let bytes = 16 << 20

  init(
    _ server: MatrixServer, files: MatrixKeyFiles, clock: @escaping @Sendable () -> Timestamp,
    log: @escaping @Sendable (String) -> Void
  ) {
    self.server = server
    self.files = files
    self.clock = clock
    self.log = log
  }

  /// All devices of `users`, in order. A user of an unreachable homeserver has the devices that were known before.
  func devices(of users: [String]) async throws(DeliveryError) -> [MatrixDevice] {
    let now = clock()
    var found: [String: MatrixUserKeys] = [:]
    known.withLock { known in
      for user in users {
        guard let (keys, askedAt) = known[user], abs(now.seconds(since: askedAt)) < Self.memory else { continue }
        found[user] = keys
      }
    }
    let missing = users.filter { found[$0] == nil }
    for start in stride(from: 0, to: missing.count, by: Self.page) {
      let page = missing[start..<min(start + Self.page, missing.count)]
      found.merge(try await ask(Array(page))) { $1 }
    }
    return users.flatMap { found[$0]?.devices ?? [] }
  }

  private func ask(_ users: [String]) async throws(DeliveryError) -> [String: MatrixUserKeys] {
    let body = JSONValue.object([
      "device_keys": .object(Dictionary(uniqueKeysWithValues: users.map { ($0, JSONValue.list([])) })),
      "timeout": .whole(10_000),
    ])
    let answer = try await server.post("/_matrix/client/v3/keys/query", body, replyBytes: Self.bytes)
    let failed = Set((answer["failures"]?.members ?? [:]).keys)
    let now = clock()
    return known.withLock { known in
      var found: [String: MatrixUserKeys] = [:]
      for user in users {
        let isReached = !failed.contains(String(user.split(separator: ":", maxSplits: 1).last ?? ""))
        found[user] = isReached ? MatrixUserKeys(answer, of: user) : known[user]?.keys ?? .none
      }
      let devices = known.values.reduce(0) { $0 + $1.keys.devices.count }
      if known.count + users.count > Self.most || devices > Self.mostDevices { known.removeAll() }
      // One who cannot be reached is not asked for again at once, either.
      for (user, keys) in found { known[user] = (keys, now) }
      return found
    }
  }

  /// Stores the master keys of the owners of `devices` before a key is given to them.
  ///
  /// - Throws: `.conflict`, once for each change of a master key.
  func trust(_ devices: [MatrixDevice]) async throws(DeliveryError) {
    let masters = Dictionary(devices.compactMap { device in device.master.map { (device.user, $0.base64) } }) { $1 }
    // Each room trusts in its own task.
    let changed = try await turns.withLock("") { () async throws(DeliveryError) -> [String] in
      var stored = try await files.read("masters", as: [String: String].self) ?? [:]
      let new = masters.filter { stored[$0.key] != $0.value }
      if new.isEmpty { return [] }
      let changed = new.keys.filter { stored[$0] != nil }.sorted()
      stored.merge(new) { $1 }
      try await files.write(stored, as: "masters")
      return changed
    }
    guard !changed.isEmpty else { return }
    let sentence =
      "the identity of \(changed.joined(separator: ", ")) was reset; compare it in a chat app. "
      + "The next attempt gives keys to the new identity"
    log(sentence)
    throw DeliveryError(.conflict, sentence)
  }
}
