import Messages
import Seals
import Synchronization
import TestSupport

@testable import Networks

/// The network that all hosts of a simulated cluster publish to. It shows an id once, unless it is broken.
final class SharedReceiver: Sendable {
  struct Shown: Sendable {
    let message: MessageID
    let request: String
    let conversation: String
  }

  private struct State {
    var shown: [Shown] = []
    var known: [MessageID: Timestamp] = [:]
    var repeats = 0
    var random: SeededRandom
  }

  private let state: Mutex<State>
  private let knowsIDs: Bool

  init(seed: UInt64, knowsIDs: Bool = true) {
    state = Mutex(State(random: SeededRandom(seed: seed)))
    self.knowsIDs = knowsIDs
  }

  var shown: [Shown] { state.withLock { $0.shown } }
  /// How often a known id came again.
  var repeats: Int { state.withLock { $0.repeats } }

  func time(of message: MessageID) -> Timestamp? { state.withLock { $0.known[message] } }

  /// Shows a message. A text that begins with `odd` is refused half of the time, with `bad` always.
  func take(_ message: OutgoingMessage) throws(DeliveryError) -> Timestamp {
    let result: Result<Timestamp, DeliveryError> = state.withLock { state in
      if let before = state.known[message.message] {
        state.repeats += 1
        if knowsIDs { return .success(before) }
      }
      if case .text(let text) = message.content {
        let isRefused = text.hasPrefix("bad") || text.hasPrefix("odd") && state.random.below(2) == 0
        if isRefused { return .failure(DeliveryError(.rejected, "it is refused")) }
      }
      let now = Timestamp.now()
      state.known[message.message] = now
      state.shown.append(
        Shown(message: message.message, request: message.request, conversation: message.address.text))
      return .success(now)
    }
    return try result.get()
  }
}

/// One host's connection to the receiver: answers are lost, and a sleeping host goes on later where it was.
struct HostNetwork: Network {
  let name = "shared"
  let takesBatches = true
  let receiver: SharedReceiver
  let gate: HostGate
  /// Whether it can tell whether a message was shown.
  let remembers: Bool
  private let random: Shared

  private final class Shared: Sendable {
    let random: Mutex<SeededRandom>
    init(seed: UInt64) { random = Mutex(SeededRandom(seed: seed)) }
  }

  init(receiver: SharedReceiver, gate: HostGate, remembers: Bool, seed: UInt64) {
    self.receiver = receiver
    self.gate = gate
    self.remembers = remembers
    random = Shared(seed: seed)
  }

  func admit(_ address: Address, sealedWith seal: SealKind) {}
  func reserve(_ message: OutgoingMessage) -> String? { nil }
  func stop() {}
  func check() -> String { "it is simulated" }

  func publish(_ message: OutgoingMessage) async throws(DeliveryError) -> Publication {
    let slept = try await pass()
    // After a long sleep the connection is dead. Other messages arrive all the same, which must do no harm.
    if slept, case .text(let text) = message.content, text.hasPrefix("odd") {
      throw DeliveryError(.network, "the connection is dead")
    }
    let isLost = random.random.withLock { $0.below(12) }
    if isLost == 0 { throw DeliveryError(.network, "lost on the way", retryAfter: 0.01) }
    let time = try receiver.take(message)
    _ = try await pass()
    if isLost == 1 { throw DeliveryError(.network, "the answer was lost", retryAfter: 0.01) }
    return Publication(publishedAt: time, remoteID: nil, attachment: message.content.attachment)
  }

  func find(_ message: TriedMessage) async throws(DeliveryError) -> Sighting {
    _ = try await pass()
    guard remembers else { return .unknown }
    return receiver.time(of: message.message).map {
      .published(Publication(publishedAt: $0, remoteID: nil, attachment: nil))
    } ?? .absent
  }

  private func pass() async throws(DeliveryError) -> Bool {
    do { return try await gate.pass() } catch { throw DeliveryError(.network, "the host is dead") }
  }
}
