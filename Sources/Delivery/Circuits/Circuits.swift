import Ledgers
import Logging
import Messages
import ServiceLifecycle
import Signalling

/// Which destinations are not to be tried just now, and when they are probed: one circuit for each store and network
/// that cannot be reached, or that failed a second conversation in the same way.
///
/// A conversation that is refused waits by itself. While a circuit is open, the others that need its destination are parked
/// in the ledger, which costs nothing; at the time of a probe one that was not refused is released, and its first message is
/// the probe. When that gets through, the circuit closes and all are released.
actor Circuits: Service {
  struct Circuit {
    var error: DeliveryError
    /// Probes that failed, one after the other; 1 is the failure that opened it.
    var failures = 1
    /// nil while nobody waits: whoever comes next is the probe, and no time is set for it.
    var nextProbe: ContinuousClock.Instant?
    /// The next that asks and was not refused is the probe.
    var hasTicket = false
    /// From then on the probe may be one that was refused.
    var restsUntil = ContinuousClock.now
    /// When the probe began that has not told yet how it went.
    var probeBegan: ContinuousClock.Instant?
  }

  private let ledger: Ledger
  private let policyNow: @Sendable () -> CircuitPolicy
  private let log: Logger
  private let dispatcher: Bell
  private let bell = Bell()
  private(set) var circuits: [String: Circuit] = [:]
  /// By destination.
  private var refusals: [String: Refusals] = [:]

  private var policy: CircuitPolicy { policyNow() }

  init(
    ledger: Ledger, policy: @escaping @autoclosure @Sendable () -> CircuitPolicy, dispatcher: Bell, log: Logger
  ) {
    self.ledger = ledger
    policyNow = policy
    self.log = log
    self.dispatcher = dispatcher
  }

  // MARK: Asked and told by those who use destinations

  /// Why a destination is not to be tried now for a conversation; nil when it is.
  func obstacle(to destination: String, for conversation: Int64) -> DeliveryError? {
    guard let circuit = circuits[destination] else { return nil }
    guard circuit.hasTicket, circuit.restsUntil <= .now || refusals[destination]?.contains(conversation) != true else {
      return circuit.error
    }
    circuits[destination]?.hasTicket = false
    circuits[destination]?.probeBegan = .now
    // A probe that never tells how it went is followed by another.
    setProbe(of: destination, in: policy.settings.probe.seconds)
    return nil
  }

  /// Whether a destination is not to be tried now, and nobody is about to probe it.
  func isLeftAlone(_ destination: String) -> Bool { circuits[destination].map { !$0.hasTicket } ?? false }

  /// A destination did what a conversation asked for.
  func succeeded(_ destination: String, for conversation: Int64) async throws {
    refusals[destination]?.gotThrough(conversation, policy)
    try await close(destination)
  }

  /// A destination answered, if only to say what is wrong with a message: there is a line to it.
  func answered(_ destination: String) async throws {
    if let circuit = circuits[destination], policy.isOfTheLine(circuit.error.cause) { try await close(destination) }
  }

  private func close(_ destination: String) async throws {
    guard let circuit = circuits.removeValue(forKey: destination) else { return }
    let count: Int
    do { count = try await ledger.release(waitingFor: destination, at: .now()) } catch {
      // Those who wait are released by the next probe.
      if circuits[destination] == nil { circuits[destination] = circuit }
      setProbe(of: destination, in: policy.settings.probe.seconds)
      throw error
    }
    log.info("destination works again", metadata: ["destination": "\(destination)", "conversations": "\(count)"])
    dispatcher.ring()
  }

  /// A destination failed a conversation, which may concern all who use it: see `Refusals`.
  func failed(_ destination: String, _ error: DeliveryError, conversation: Int64) async throws {
    guard policy.concernsAll(error.cause) else { return }
    if !policy.isOfTheLine(error.cause) { try await answered(destination) }
    let concernsAll = refusals[destination, default: Refusals()].add(conversation, error.cause, policy)
    let former = circuits[destination]
    guard former != nil || concernsAll else { return }
    var circuit = former ?? Circuit(error: error)
    circuit.error = error
    // Many were on their way when it opened, and fail together: that is no long row of failures.
    if former?.probeBegan != nil { circuit.failures += 1 }
    circuit.restsUntil = .now + .seconds(policy.rest(after: error, failures: circuit.failures))
    let pause = policy.pause(after: error, failures: circuit.failures, random: .random(in: 0...1))
    // The time that a probe took to fail is part of the pause between two of them. A ticket that was just given out is
    // not taken back: the line may have returned behind this failure.
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

  /// Parks the conversation of a message until its destination works.
  func park(
    _ message: QueuedMessage, for destination: String, error: DeliveryError, until: Timestamp, keepsUpload: Bool
  ) async throws {
    try await ledger.park(message, for: destination, error: error, until: until, keepsUpload: keepsUpload, at: .now())
    // The circuit may have closed meanwhile, and then nobody would come to release it.
    guard let circuit = circuits[destination] else {
      if try await ledger.release(waitingFor: destination, at: .now()) > 0 { dispatcher.ring() }
      return
    }
    // One that refuses everybody is asked when its time comes.
    if circuit.nextProbe == nil || !policy.refusesEverybody(circuit.error, failures: circuit.failures) {
      setProbe(of: destination, in: policy.settings.probe.seconds)
    }
  }

  /// Has the next probe begin then, or when it was to begin if that is earlier.
  private func setProbe(of destination: String, in seconds: Double) {
    setProbe(of: destination, at: .now + .seconds(seconds))
  }

  private func setProbe(of destination: String, at time: ContinuousClock.Instant) {
    if let set = circuits[destination]?.nextProbe, set <= time { return }
    circuits[destination]?.nextProbe = time
    bell.ring()
  }

  /// Destinations that are left alone.
  var open: Set<String> { Set(circuits.keys) }

  /// Closes all circuits: everything may be tried now. The ledger has released those who waited.
  func closeAll() { (circuits, refusals) = ([:], [:]) }

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

  /// Lets somebody try each destination whose time for that has come: one that was not refused, or anybody when all were
  /// and have waited for long enough.
  ///
  /// While the ledger is asked, others may take the ticket, be parked, or close the circuit. So the time is cleared before,
  /// and after it a time is only ever set.
  func probe(at now: ContinuousClock.Instant = .now) async throws {
    for destination in circuits.keys {
      guard let time = circuits[destination]?.nextProbe, time <= now else { continue }
      circuits[destination]?.nextProbe = nil
      circuits[destination]?.hasTicket = true
      do {
        if try await releaseProbe(of: destination, at: now) {
          setProbe(of: destination, in: policy.settings.probe.seconds)
          dispatcher.ring()
        } else if let rest = circuits[destination]?.restsUntil, rest > now, isRefusing(destination) {
          setProbe(of: destination, at: rest)
        }
      } catch {
        setProbe(of: destination, in: policy.settings.probe.seconds)
        throw error
      }
    }
  }

  /// Releases the conversation that is to be the probe; false when none waits that may be.
  private func releaseProbe(of destination: String, at now: ContinuousClock.Instant) async throws -> Bool {
    let refused = refusals[destination]?.conversations ?? []
    if try await ledger.releaseOne(waitingFor: destination, except: refused, at: .now()) { return true }
    guard let circuit = circuits[destination], circuit.restsUntil <= now else { return false }
    return try await ledger.releaseOne(waitingFor: destination, at: .now())
  }

  private func isRefusing(_ destination: String) -> Bool { refusals[destination]?.conversations.isEmpty == false }
}
