import DurableFiles
import Ledgers
import Logging
import Messages
import TestSupport
import Testing

@testable import Delivery

@Suite struct ProbeTests {
  private let scratch: TemporaryDirectory
  private let circuits: Circuits
  private let unreachable = DeliveryError(.unreachable, "there is no route")

  init() throws {
    scratch = try TemporaryDirectory()
    circuits = Circuits(
      ledger: try Ledger(in: Directory(path: scratch.path)), policy: CircuitPolicy(),
      log: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
    ) {}
  }

  @Test("What fails together when a line goes away counts as one failure, so that the first probes come soon")
  func together() async throws {
    for _ in 0..<50 { _ = await circuits.failed("store", unreachable, conversation: 1) }
    let circuit = try #require(await circuits.circuits["store"])
    #expect(circuit.failures == 1)
    #expect(try #require(circuit.nextProbe) - .now <= .seconds(0.5))
  }

  @Test("A failure from before the line returned does not take the probe away that was let go behind it")
  func late() async throws {
    _ = await circuits.failed("store", unreachable, conversation: 1)
    #expect(await circuits.obstacle(to: "store") == unreachable)
    await circuits.probeUnreachable()
    try await circuits.probe()
    _ = await circuits.failed("store", unreachable, conversation: 1)
    #expect(await circuits.obstacle(to: "store") == nil)
    #expect(await circuits.obstacle(to: "store") == unreachable, "one probe and not two")
  }

  @Test("Only probes that fail make the pauses longer, and the time that one took is part of its pause")
  func slow() async throws {
    _ = await circuits.failed("store", unreachable, conversation: 1)
    for round in 2...6 {
      await circuits.probeUnreachable()
      try await circuits.probe()
      #expect(await circuits.obstacle(to: "store") == nil)
      let began = try #require(await circuits.circuits["store"]?.probeBegan)
      _ = await circuits.failed("store", unreachable, conversation: 1)
      let circuit = try #require(await circuits.circuits["store"])
      #expect(circuit.failures == round && circuit.probeBegan == nil)
      let next = try #require(circuit.nextProbe)
      #expect(next <= max(.now, began + .seconds(5)))
    }
  }
}
