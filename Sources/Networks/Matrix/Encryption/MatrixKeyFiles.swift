import Blocking
import DurableFiles
import FoundationEssentials
import Glibc
import Messages
import RoomKeys
import Synchronization

/// The directory `state/matrix/NETWORK`: `identity` with secret keys, `masters` with the master keys of other users,
/// `outbox/` with encrypted events that are not confirmed yet, and `keys.sqlite` with what opens those of others.
final class MatrixKeyFiles: Sendable {
  private static let mostBytes = 1 << 24

  private let state: Directory
  private let network: String
  private let pool = BlockingPool(label: "matrix keys", threads: 1)
  private let keyFile = Mutex<KeyFile?>(nil)

  init(in state: Directory, network: String) {
    self.state = state
    self.network = network
  }

  /// Reads a file of the directory; nil if it does not exist.
  func read<Value: Decodable & Sendable>(_ name: String, as type: Value.Type) async throws(DeliveryError) -> Value? {
    let path = path(of: name)
    let bytes: [UInt8]? = try await run("read", name) { [self] in
      guard let directory = try open(), try directory.entry(name) != nil else { return nil }
      return try directory.file(name).contents(limit: Self.mostBytes)
    }
    guard let bytes else { return nil }
    do { return try JSONDecoder().decode(type, from: Data(bytes)) } catch {
      throw DeliveryError(.configError, "\(path) is damaged; restore it from a backup, or move it away and log in anew")
    }
  }

  /// Replaces a file, durably when it returns.
  func write(_ value: some Encodable & Sendable, as name: String) async throws(DeliveryError) {
    try await run("write", name) { [self] in
      let directory = try make()
      try directory.write(Messages.json(value), as: name)
      try directory.sync()
    }
  }

  /// `keys.sqlite`, opened once for sending and listening.
  func keys() async throws(DeliveryError) -> KeyFile {
    if let file = keyFile.withLock({ $0 }) { return file }
    do {
      return try await pool.run { [self] in
        if let file = keyFile.withLock({ $0 }) { return file }
        let file = try KeyFile(in: make())
        keyFile.withLock { $0 = file }
        return file
      }
    } catch {
      if let error = error as? DeliveryError { throw error }
      throw DeliveryError(.localStorageError, "the directory for keys of encrypted rooms cannot be made: \(error)")
    }
  }

  // MARK: Outbox

  func outgoing(_ message: MessageID) async throws(DeliveryError) -> OutgoingEvent? {
    let bytes: [UInt8]? = try await run("read", "outbox/\(message.text)") { [self] in
      guard let outbox = try openOutbox(), try outbox.entry(message.text) != nil else { return nil }
      return try outbox.file(message.text).contents(limit: Self.mostBytes)
    }
    return bytes.flatMap { try? JSONDecoder().decode(OutgoingEvent.self, from: Data($0)) }
  }

  /// Stores an event, durably when it returns. One that was never published is replaced.
  func put(_ event: OutgoingEvent, for message: MessageID) async throws(DeliveryError) {
    try await run("write", "outbox") { [self] in
      let outbox = try make().directory(creating: "outbox")
      try outbox.write(Messages.json(event), as: message.text)
      try outbox.sync()
    }
  }

  /// Removes an event. After a power cut it may be back, which is harmless.
  func remove(_ message: MessageID) async {
    try? await pool.run { [self] in
      guard let outbox = try openOutbox() else { return }
      for name in [message.text, ".\(message.text).tmp"] where try outbox.entry(name) != nil { try outbox.remove(name) }
    }
  }

  /// The messages with a stored event, also with one that a crash left half written.
  func allOutgoing() async throws(DeliveryError) -> [MessageID] {
    try await run("read", "outbox") { [self] in
      guard let outbox = try openOutbox() else { return [] }
      return Set(
        try outbox.names().map { name in
          name.hasPrefix(".") && name.hasSuffix(".tmp") ? String(name.dropFirst().dropLast(4)) : name
        }
      ).map { MessageID(unchecked: $0) }
    }
  }

  /// nil if it does not exist.
  private func openOutbox() throws -> Directory? {
    guard let directory = try open(), try directory.entry("outbox") != nil else { return nil }
    return try directory.directory("outbox")
  }

  // MARK: Directory

  /// nil if it does not exist.
  private func open() throws -> Directory? {
    guard try state.entry("matrix") != nil else { return nil }
    let all = try state.directory("matrix")
    return try all.entry(network) == nil ? nil : try all.directory(network)
  }

  private func make() throws -> Directory {
    try state.directory(creating: "matrix").directory(creating: network)
  }

  private func path(of name: String) -> String { state.path(of: "matrix/\(network)/\(name)") }

  private func run<Success: Sendable>(
    _ verb: String, _ name: String, _ work: @escaping @Sendable () throws -> Success
  ) async throws(DeliveryError) -> Success {
    do { return try await pool.run(work) } catch {
      throw DeliveryError(.localStorageError, "cannot \(verb) \(path(of: name)): \(error)")
    }
  }
}

/// An encrypted event before it is confirmed. Nothing on this machine can decrypt it.
struct OutgoingEvent: Codable, Sendable {
  /// The room's id, escaped for a path.
  let room: String
  /// The exact bytes of the content.
  let content: String
  /// The hash by which the event is recognised in the room.
  let mark: String
}
