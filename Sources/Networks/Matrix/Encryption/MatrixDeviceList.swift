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
  private let known = Mutex<[String: (keys: MatrixUserKeys, askedAt: Timestamp)]>([:])

  /// Seconds for which devices are not asked for again.
  static let memory = 30.0
  /// Users in one request, and in memory.
  private static let page = 100
  private static let most = 10_000
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
    let missing = known.withLock { known in
      users.filter { user in known[user].map { abs(now.seconds(since: $0.askedAt)) >= Self.memory } ?? true }
    }
    for start in stride(from: 0, to: missing.count, by: Self.page) {
      try await ask(Array(missing[start..<min(start + Self.page, missing.count)]))
    }
    return known.withLock { known in users.flatMap { known[$0]?.keys.devices ?? [] } }
  }

  private func ask(_ users: [String]) async throws(DeliveryError) {
    let body = JSONValue.object([
      "device_keys": .object(Dictionary(uniqueKeysWithValues: users.map { ($0, JSONValue.list([])) })),
      "timeout": .whole(10_000),
    ])
    let answer = try await server.post("/_matrix/client/v3/keys/query", body, replyBytes: Self.bytes)
    let failed = Set((answer["failures"]?.members ?? [:]).keys)
    let now = clock()
    known.withLock { known in
      if known.count + users.count > Self.most { known.removeAll() }
      for user in users where !failed.contains(String(user.split(separator: ":", maxSplits: 1).last ?? "")) {
        known[user] = (MatrixUserKeys(answer, of: user), now)
      }
    }
  }

  /// Stores the master keys of `users` before a key is given to them.
  ///
  /// - Throws: `.conflict`, once for each change of a master key.
  func trust(_ users: [String]) async throws(DeliveryError) {
    let masters = known.withLock { known in
      users.compactMap { user in known[user]?.keys.master.map { (user, $0.base64) } }
    }
    var stored = try await files.read("masters", as: [String: String].self) ?? [:]
    let changed = masters.filter { stored[$0.0] != nil && stored[$0.0] != $0.1 }.map(\.0).sorted()
    let new = masters.filter { stored[$0.0] != $0.1 }
    if new.isEmpty { return }
    for (user, key) in new { stored[user] = key }
    try await files.write(stored, as: "masters")
    guard !changed.isEmpty else { return }
    let sentence =
      "the identity of \(changed.joined(separator: ", ")) was reset; compare it in a chat app. "
      + "The next attempt gives keys to the new identity"
    log(sentence)
    throw DeliveryError(.conflict, sentence)
  }
}
