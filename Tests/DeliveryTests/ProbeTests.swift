import Dispatch
import Logging
import Messages
import Settings
import Spooling
import TestSupport
import Testing

@testable import Delivery
@testable import Ledgers

@Suite struct ProbeTests {
  private let scratch: TemporaryDirectory
  private let ledger: Ledger
  private let circuits: Circuits
  private let unreachable = DeliveryError(.unreachable, "there is no route")

  init() throws {
    scratch = try TemporaryDirectory()
    let spool = try Spool(creating: scratch.path("spool"))
    ledger = try Ledger(in: spool.state)
    var settings = Settings()
    settings.delivery.mending = .hours(10)
    circuits = Circuits(DeliveryCore(ledger, in: spool, settings))
  }

  @Test("Failures at the moment of an outage count as one, so the first probes come soon")
  func together() async throws {
    for _ in 0..<50 { try await circuits.failed("store", unreachable, conversation: 1) }
    let circuit = try #require(await circuits.circuits["store"])
    #expect(circuit.failures == 1)
    #expect(try #require(circuit.nextProbe) - .now <= .seconds(0.5))
  }

  @Test("A failure from before the recovery does not cancel the probe that started after it")
  func late() async throws {
    try await circuits.failed("store", unreachable, conversation: 1)
    #expect(await circuits.obstacle(to: "store", for: 1) == unreachable)
    try await circuits.probe(at: .now + .seconds(5))
    try await circuits.failed("store", unreachable, conversation: 1)
    #expect(await circuits.obstacle(to: "store", for: 1) == nil)
    #expect(await circuits.obstacle(to: "store", for: 1) == unreachable, "one probe and not two")
  }

  @Test("A probe that begins during a query of the ledger is followed by another if it reports nothing")
  func taken() async throws {
    try await circuits.failed("store", unreachable, conversation: 1)
    let gate = DispatchSemaphore(value: 0)
    async let held: Void = ledger.write { _ in gate.wait() }
    async let probe: Void = circuits.probe(at: .now + .seconds(5))
    while await circuits.circuits["store"]?.hasTicket != true { await Task.yield() }
    #expect(await circuits.obstacle(to: "store", for: 1) == nil)
    gate.signal()
    _ = try await (held, probe)
    #expect(await circuits.circuits["store"]?.nextProbe != nil)
  }

  @Test("Only probes that fail make the pauses longer, and the time that one took is part of its pause")
  func slow() async throws {
    try await circuits.failed("store", unreachable, conversation: 1)
    for round in 2...6 {
      try await circuits.probe(at: .now + .seconds(5))
      #expect(await circuits.obstacle(to: "store", for: 1) == nil)
      let began = try #require(await circuits.circuits["store"]?.probeBegan)
      try await circuits.failed("store", unreachable, conversation: 1)
      let circuit = try #require(await circuits.circuits["store"])
      #expect(circuit.failures == round && circuit.probeBegan == nil)
      let next = try #require(circuit.nextProbe)
      #expect(next <= max(.now, began + .seconds(5)))
    }
  }

  @Test("A refusal of one conversation affects no other until a second one gets the same, with no success between")
  func answers() async throws {
    for cause in [Cause.configError, .authExpired, .accountDisabled, .rateLimited] {
      let error = DeliveryError(cause, "no", retryAfter: cause == .rateLimited ? 36_000 : nil)
      for _ in 0..<3 { try await circuits.failed("net", error, conversation: 1) }
      #expect(await circuits.obstacle(to: "net", for: 2) == nil)
      try await circuits.failed("net", DeliveryError(.network, "the connection was lost"), conversation: 2)
      #expect(await circuits.obstacle(to: "net", for: 3) == nil, "another kind of failure")
      try await circuits.failed("net", error, conversation: 2)
      #expect(await circuits.obstacle(to: "net", for: 3) == error)
      // It is due soon, and none of the refused ones takes it.
      let next = try #require(await circuits.circuits["net"]?.nextProbe)
      #expect(next - .now <= .seconds(0.5))
      try await letGo("net")
      for refused in [Int64(1), 2] { #expect(await circuits.obstacle(to: "net", for: refused) == error) }
      #expect(await circuits.obstacle(to: "net", for: 3) == nil)
      try await circuits.succeeded("net", for: 3)
      // Another conversation succeeded after their refusals, so these are their own.
      for _ in 0..<3 {
        for refused in [Int64(1), 2] { try await circuits.failed("net", error, conversation: refused) }
        #expect(await circuits.obstacle(to: "net", for: 4) == nil)
      }
      // After a success, their refusals count again.
      for conversation in [Int64(1), 2] { try await circuits.succeeded("net", for: conversation) }
      for conversation in [Int64(1), 2] { try await circuits.failed("net", error, conversation: conversation) }
      #expect(await circuits.obstacle(to: "net", for: 4) == error)
      await circuits.closeAll()
    }
  }

  @Test("Once all were refused, no probe starts before the pause for a repair is over")
  func mending() async throws {
    let error = DeliveryError(.authExpired, "the token is not valid")
    for conversation in [Int64(1), 2] { try await circuits.failed("net", error, conversation: conversation) }
    try await letGo("net")
    #expect(await circuits.obstacle(to: "net", for: 1) == error)
    let circuit = try #require(await circuits.circuits["net"])
    // Only refused conversations wait, so their time decides.
    #expect(circuit.nextProbe == circuit.restsUntil)
  }

  @Test("Any answer, even a refusal, says that the network has recovered")
  func answered() async throws {
    for refusal in [Cause.authExpired, .rejected] {
      try await circuits.failed("net", unreachable, conversation: 1)
      #expect(await circuits.obstacle(to: "net", for: 2) == unreachable)
      if refusal.disposition == .fail {
        try await circuits.answered("net")
      } else {
        try await circuits.failed("net", DeliveryError(refusal, "no"), conversation: 1)
      }
      #expect(await circuits.obstacle(to: "net", for: 2) == nil)
    }
  }

  /// Makes the next probe due.
  private func letGo(_ destination: String) async throws {
    while await circuits.circuits[destination]?.hasTicket != true {
      let next = try #require(await circuits.circuits[destination]?.nextProbe)
      try await circuits.probe(at: max(next, .now))
    }
  }
}
