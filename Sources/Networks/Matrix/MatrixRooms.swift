import HTTP
import Matrix
import Messages
import Synchronization

/// The room of a conversation: its id, or an alias such as `#family:example.org`, which is looked up once an hour and
/// after a failure.
final class MatrixRooms: Sendable {
  private let server: MatrixServer
  private let clock: @Sendable () -> Timestamp
  private let known = Mutex<[Address: (room: String, askedAt: Timestamp)]>([:])

  /// The number of cached aliases, and their lifetime in seconds.
  private static let most = 10_000
  static let memory = 3600.0

  init(_ server: MatrixServer, clock: @escaping @Sendable () -> Timestamp = { .now() }) {
    self.server = server
    self.clock = clock
  }

  /// Runs `work` with the id of the conversation's room, escaped for a path. After an upgrade an alias leads to another
  /// room. If a cached room is gone or refuses, the alias is looked up again, and `work` runs once in the new room.
  /// After any failure the next call looks it up.
  func inRoom<Answer: Sendable>(
    of address: Address, _ work: (String) async throws(DeliveryError) -> Answer
  ) async throws(DeliveryError) -> Answer {
    let remembered = room(inMemory: address)
    do throws(DeliveryError) {
      let room = try await id(of: address)
      do throws(DeliveryError) { return try await work(room.percentEncoded()) } catch {
        guard room == remembered, error.cause == .forbidden || error.cause == .roomGone else { throw error }
        forget(address)
        let next = try await id(of: address)
        if next == room { throw error }
        return try await work(next.percentEncoded())
      }
    } catch {
      forget(address)
      throw error
    }
  }

  private func room(inMemory address: Address) -> String? {
    guard let known = known.withLock({ $0[address] }) else { return nil }
    // A clock that was set back must not extend the lifetime.
    return abs(clock().seconds(since: known.askedAt)) < Self.memory ? known.room : nil
  }

  func id(of address: Address) async throws(DeliveryError) -> String {
    let kind = MatrixNetworkType.address
    guard kind.parse(address.text) != nil else {
      throw DeliveryError(.roomGone, "the conversation is no Matrix room; it has to be \(kind.expects)")
    }
    if address.text.first == "!" { return address.text }
    if let room = room(inMemory: address) { return room }
    let answer = try await server.ask(.get, "/_matrix/client/v3/directory/room/\(address.text.percentEncoded())")
    if answer.code == "M_NOT_FOUND" || answer.code == "M_INVALID_PARAM" {
      throw DeliveryError(
        .roomGone, "\(server.name) knows no room of that alias; check how it is written (\(answer.status))")
    }
    let id: String = try server.need("room_id", of: answer)
    guard id.hasPrefix("!") else { throw server.faults.error(answer) }
    let now = clock()
    known.withLock { known in
      if known.count >= Self.most { known.removeAll(keepingCapacity: true) }
      known[address] = (id, now)
    }
    return id
  }

  /// Makes the next message look the alias up.
  func forget(_ address: Address) { known.withLock { $0[address] = nil } }
}
