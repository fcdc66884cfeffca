import Control
import Ledgers
import Logging
import Messages
import ServiceLifecycle
import Settings
import Signalling

/// The circuits of destinations: one for each store or network that is unreachable, or that failed a second
/// conversation in the same way. A refused conversation waits by itself. While a circuit is open, the ledger parks the
/// other conversations of the destination, which costs nothing. For a probe, one that was not refused is released, and
/// its first message is the probe. If it succeeds, the circuit closes and all are released.
actor Circuits: Service, HasCore {
  struct Circuit {
    var error: DeliveryError
    let openedAt = Timestamp.now()
    /// Failed probes in a row; 1 is the failure that opened the circuit.
    var failures = 1
    /// nil while no conversation waits; the next one to come is the probe.
    var nextProbe: ContinuousClock.Instant?
    /// The next conversation that was not refused is the probe.
    var hasTicket = false
    /// After this time, a refused conversation may be the probe.
    var restsUntil = ContinuousClock.now
    var probeBegan: ContinuousClock.Instant?
  }

  nonisolated let core: DeliveryCore
  private let bell = Bell()
  private(set) var circuits: [String: Circuit] = [:]
  /// How often everything that waits was to be tried again.
  private(set) var resets = 0
  /// By destination.
  private var refusals: [String: Refusals] = [:]

  private var settings: Settings.Delivery { plan.delivery }

  init(_ core: DeliveryCore) { self.core = core }

  // MARK: Asked and told by those who use destinations

  /// Why a destination must not be tried now for a conversation, if so.
  func obstacle(to destination: String, for conversation: Int64) -> DeliveryError? {
    guard let circuit = circuits[destination] else { return nil }
    guard circuit.hasTicket, circuit.restsUntil <= .now || refusals[destination]?.contains(conversation) != true else {
      return circuit.error
    }
    circuits[destination]?.hasTicket = false
    circuits[destination]?.probeBegan = .now
    // If this probe never reports, another one follows.
    setProbe(of: destination, in: settings.probe.seconds)
    return nil
  }

  /// Whether a destination must not be tried now, and no probe is about to begin.
  func isLeftAlone(_ destination: String) -> Bool { circuits[destination].map { !$0.hasTicket } ?? false }

  func succeeded(_ destination: String, for conversation: Int64) async throws {
    refusals[destination]?.gotThrough(conversation)
    try await close(destination)
  }

  /// Records any answer, even a refusal: the destination is reachable.
  func answered(_ destination: String) async throws {
    if let circuit = circuits[destination], circuit.error.cause.isOfTheLine { try await close(destination) }
  }

  private func close(_ destination: String) async throws {
    guard let circuit = circuits.removeValue(forKey: destination) else { return }
    let count: Int
    do { count = try await ledger.release(waitingFor: destination, at: .now()) } catch {
      // The next probe releases the waiting conversations.
      if circuits[destination] == nil { circuits[destination] = circuit }
      setProbe(of: destination, in: settings.probe.seconds)
      throw error
    }
    log.info("destination works again", metadata: ["destination": "\(destination)", "conversations": "\(count)"])
    signals.dispatcher.ring()
  }

  /// Records a failure for a conversation, which may concern all: see `Refusals`.
  func failed(_ destination: String, _ error: DeliveryError, conversation: Int64) async throws {
    guard error.cause.concernsAll else { return }
    if !error.cause.isOfTheLine { try await answered(destination) }
    let concernsAll = refusals[destination, default: Refusals()].add(conversation, error.cause)
    let former = circuits[destination]
    guard former != nil || concernsAll else { return }
    var circuit = former ?? Circuit(error: error)
    circuit.error = error
    // Simultaneous failures of running requests count once.
    if former?.probeBegan != nil { circuit.failures += 1 }
    circuit.restsUntil = .now + .seconds(settings.rest(after: error, failures: circuit.failures))
    let pause = settings.pause(after: error, failures: circuit.failures, random: .random(in: 0...1))
    // The time of a failed probe counts towards the pause. A ticket stays valid: the network may have recovered since
    // this failure.
    let begin = circuit.probeBegan ?? .now
    if !circuit.hasTicket { circuit.nextProbe = max(.now, begin + .seconds(pause)) }
    circuit.probeBegan = nil
    circuits[destination] = circuit
    if former?.error.cause != error.cause {
      log.warning(
        "destination waits",
        metadata: [
          "destination": "\(destination)", "cause": "\(error.cause.rawValue)", "error": "\(error.sentence)",
          "wait": "\(StepTimes.text(pause))",
        ])
    }
    bell.ring()
  }

  /// Arranges the next probe of a destination, after a conversation was parked for it.
  func hasParked(for destination: String, _ error: DeliveryError) async throws {
    // If the circuit has closed meanwhile, nobody would release the conversation.
    guard let circuit = circuits[destination] else {
      if try await ledger.release(waitingFor: destination, at: .now()) > 0 { signals.dispatcher.ring() }
      return
    }
    // One that refuses everybody keeps its time.
    if circuit.nextProbe == nil || !settings.refusesEverybody(circuit.error, failures: circuit.failures) {
      setProbe(of: destination, in: settings.probe.seconds)
    }
  }

  /// Sets the time of the next probe, unless an earlier one is set.
  private func setProbe(of destination: String, in seconds: Double) {
    setProbe(of: destination, at: .now + .seconds(seconds))
  }

  private func setProbe(of destination: String, at time: ContinuousClock.Instant) {
    if let set = circuits[destination]?.nextProbe, set <= time { return }
    circuits[destination]?.nextProbe = time
    bell.ring()
  }

  var open: Set<String> { Set(circuits.keys) }

  /// The state of a destination, for people.
  func report(on destination: String) -> ControlReply.Destination {
    guard let circuit = circuits[destination] else { return ControlReply.Destination(destination) }
    let next = circuit.nextProbe.map { Timestamp.now().advanced(seconds: max(0, ($0 - .now) / .seconds(1))) }
    return ControlReply.Destination(
      destination, error: circuit.error.sentence, since: circuit.openedAt, nextProbe: next)
  }

  /// Closes all circuits; the ledger releases their conversations.
  func closeAll() {
    (circuits, refusals) = ([:], [:])
    resets += 1
  }

  // MARK: Probing

  func run() async throws {
    await bell.serve {
      defer {
        if let next = circuits.values.compactMap(\.nextProbe).min() {
          bell.ring(in: max(0.01, (next - .now) / .seconds(1)))
        }
      }
      try await probe()
    } failed: { error in
      log.error("the ledger failed; probes wait", metadata: ["error": "\(error)"])
      return 1
    }
  }

  /// Starts the due probes: with a conversation that was not refused, or with any if all were refused and have waited
  /// long enough. While the ledger is asked, others may take the ticket, be parked, or close the circuit. So the time
  /// is cleared before, and only set again after that.
  func probe(at now: ContinuousClock.Instant = .now) async throws {
    for destination in circuits.keys {
      guard let time = circuits[destination]?.nextProbe, time <= now else { continue }
      circuits[destination]?.nextProbe = nil
      circuits[destination]?.hasTicket = true
      do {
        if try await releaseProbe(of: destination, at: now) {
          setProbe(of: destination, in: settings.probe.seconds)
          signals.dispatcher.ring()
        } else if let rest = circuits[destination]?.restsUntil, rest > now, isRefusing(destination) {
          setProbe(of: destination, at: rest)
        }
      } catch {
        setProbe(of: destination, in: settings.probe.seconds)
        throw error
      }
    }
  }

  /// Releases the conversation for a probe; false if none may be it.
  private func releaseProbe(of destination: String, at now: ContinuousClock.Instant) async throws -> Bool {
    let refused = refusals[destination]?.conversations ?? []
    if try await ledger.releaseOne(waitingFor: destination, except: refused, at: .now()) { return true }
    guard let circuit = circuits[destination], circuit.restsUntil <= now else { return false }
    return try await ledger.releaseOne(waitingFor: destination, at: .now())
  }

  private func isRefusing(_ destination: String) -> Bool { refusals[destination]?.conversations.isEmpty == false }
}
