import Ledgers
import Logging
import Messages
import ServiceLifecycle

/// Which destinations are not to be tried just now, and when they are probed: one circuit for each store and network
/// that failed for a reason which concerns all who use it.
///
/// While a circuit is open, conversations that need its destination are parked in the ledger, which costs nothing. At
/// the time of a probe one of them is released, and its first message is the probe: when it gets through, the circuit
/// closes and all are released.
actor Circuits: Service {
  struct Circuit {
    var error: DeliveryError
    /// Probes that failed, one after the other; 1 is the failure that opened it.
    var failures = 1
    /// nil while nobody waits: whoever comes next is the probe, and no time is set for it.
    var nextProbe: ContinuousClock.Instant?
    /// The next that asks is the probe.
    var hasTicket = false
    /// When the probe began that has not told yet how it went.
    var probeBegan: ContinuousClock.Instant?
  }

  private let ledger: Ledger
  private let policyNow: @Sendable () -> CircuitPolicy
  private let log: Logger
  private let wakeDispatcher: @Sendable () -> Void
  private let bell = Bell()
  private(set) var circuits: [String: Circuit] = [:]
  /// By destination: the conversation that alone has seen it break off or go silent since it last worked.
  private var suspects: [String: Int64] = [:]

  private var policy: CircuitPolicy { policyNow() }

  init(
    ledger: Ledger, policy: @escaping @autoclosure @Sendable () -> CircuitPolicy, log: Logger,
    wakeDispatcher: @escaping @Sendable () -> Void
  ) {
    self.ledger = ledger
    policyNow = policy
    self.log = log
    self.wakeDispatcher = wakeDispatcher
  }

  // MARK: Asked and told by those who use destinations

  /// Why a destination is not to be tried now; nil when it is.
  func obstacle(to destination: String) -> DeliveryError? {
    guard let circuit = circuits[destination] else { return nil }
    if circuit.hasTicket {
      circuits[destination]?.hasTicket = false
      circuits[destination]?.probeBegan = .now
      return nil
    }
    return circuit.error
  }

  /// A destination did what it was asked to do.
  func succeeded(_ destination: String) async throws {
    suspects[destination] = nil
    guard circuits.removeValue(forKey: destination) != nil else { return }
    let count = try await ledger.release(waitingFor: destination, at: .now())
    log.info("destination works again", metadata: ["destination": "\(destination)", "conversations": "\(count)"])
    wakeDispatcher()
  }

  /// A destination failed a conversation.
  ///
  /// - Returns: whether that concerns all who use it. A connection that broke or went silent may lie in what one
  ///   conversation sends: it concerns all once a second one has seen it, with no success between.
  func failed(_ destination: String, _ error: DeliveryError, conversation: Int64) -> Bool {
    guard policy.concernsAll(error.cause) else { return false }
    if !policy.isUnsent(error.cause), circuits[destination] == nil {
      let suspect = suspects.updateValue(conversation, forKey: destination)
      if suspect == nil || suspect == conversation { return false }
    }
    let former = circuits[destination]
    var circuit = former ?? Circuit(error: error)
    circuit.error = error
    // Many were on their way when it opened, and fail together: that is no long row of failures.
    if former?.probeBegan != nil { circuit.failures += 1 }
    let wait = policy.wait(after: error, failures: circuit.failures, random: .random(in: 0...1))
    if policy.isOfTheLine(error.cause) {
      // The time that a probe took to fail is part of the pause between two of them. A ticket that was just given out is
      // not taken back: the line may have returned behind this failure.
      let start = circuit.probeBegan ?? .now
      if !circuit.hasTicket { circuit.nextProbe = max(.now, start + .seconds(wait)) }
    } else {
      circuit.hasTicket = false
      circuit.nextProbe = .now + .seconds(wait)
    }
    circuit.probeBegan = nil
    circuits[destination] = circuit
    if former?.error.cause != error.cause {
      log.warning(
        "destination waits",
        metadata: [
          "destination": "\(destination)", "cause": "\(error.cause.rawValue)", "error": "\(error.sentence)",
          "wait": "\(StepTimes.text(wait))",
        ])
    }
    bell.ring()
    return true
  }

  /// Parks the conversation of a message until its destination works.
  func park(
    _ message: QueuedMessage, for destination: String, error: DeliveryError, until: Timestamp, keepsUpload: Bool
  ) async throws {
    try await ledger.park(message, for: destination, error: error, until: until, keepsUpload: keepsUpload, at: .now())
    // The circuit may have closed meanwhile, and then nobody would come to release it.
    guard let circuit = circuits[destination] else {
      if try await ledger.release(waitingFor: destination, at: .now()) > 0 { wakeDispatcher() }
      return
    }
    if circuit.nextProbe == nil {
      circuits[destination]?.nextProbe = .now + .seconds(policy.longestProbe)
      bell.ring()
    }
  }

  /// Destinations that are left alone.
  var open: Set<String> { Set(circuits.keys) }

  /// Closes all circuits: everything may be tried now. The ledger has released those who waited.
  func closeAll() { circuits = [:] }

  /// Something changed about the network: what could not be reached is probed at once.
  func probeUnreachable() {
    for (destination, circuit) in circuits where policy.isOfTheLine(circuit.error.cause) {
      circuits[destination]?.nextProbe = .now
    }
    bell.ring()
  }

  // MARK: Probing

  func run() async throws {
    let alarm = Alarm(bell)
    await withGracefulShutdownHandler {
      for await _ in bell.rings {
        do {
          try await probe()
        } catch {
          log.error("the ledger failed; probes wait", metadata: ["error": "\(error)"])
          await alarm.ring(in: 1)
        }
        if let next = circuits.values.compactMap(\.nextProbe).min() {
          await alarm.ring(in: max(0.01, (next - .now) / .seconds(1)))
        }
      }
    } onGracefulShutdown: {
      self.bell.retire()
    }
    await alarm.stop()
  }

  /// Lets somebody try each destination whose time for that has come.
  func probe() async throws {
    for (destination, circuit) in circuits {
      guard let time = circuit.nextProbe, time <= .now else { continue }
      // A probe that never tells how it went is followed by another.
      circuits[destination]?.nextProbe = .now + .seconds(policy.longestProbe)
      circuits[destination]?.hasTicket = true
      if try await ledger.releaseOne(waitingFor: destination, at: .now()) {
        wakeDispatcher()
      } else {
        circuits[destination]?.nextProbe = nil
      }
    }
  }
}
