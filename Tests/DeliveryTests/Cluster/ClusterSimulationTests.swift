import Clusters
import Foundation
import Messages
import Seals
import Testing

@Suite(.serialized)
struct ClusterSimulationTests {
  /// SIMULATION_SEEDS sets the number of seeds, and prints how many calls have failed.
  private static let wanted = ProcessInfo.processInfo.environment["SIMULATION_SEEDS"].flatMap(Int.init)

  @Test(
    "with lost and late calls, killed and sleeping hosts, everything is shown once and in order",
    arguments: 1...max(1, wanted ?? 4))
  func keepsItsPromises(seed: Int) async throws {
    let simulation = try ClusterSimulation(seed: UInt64(seed))
    let wrong = try await simulation.run(rounds: 6)
    #expect(wrong == [], "\(wrong)")
    if Self.wanted != nil { print("seed \(seed): \(HostQueue.injected.withLock { $0 }) failed calls") }
  }

  @Test("a network that knows no ids is caught as DUP")
  func catchesDoubles() async throws {
    #expect(try await isCaught("DUP") { try ClusterSimulation(seed: $0, knowsIDs: false) })
  }

  @Test("acknowledging before publishing is caught as LOST")
  func catchesEarlyAcknowledgement() async throws {
    #expect(
      try await isCaught("LOST", patience: .seconds(3)) {
        try ClusterSimulation(seed: $0, flaw: .acknowledgesFirst, search: .seconds(3600))
      })
  }

  @Test("a failure that does not become a fact is caught as ORDER")
  func catchesSilence() async throws {
    #expect(
      try await isCaught("ORDER", patience: .seconds(5)) {
        try ClusterSimulation(seed: $0, flaw: .givesUpSilently)
      })
  }

  @Test("a host that owned more than its share before its start leaves none of it unread")
  func takesBackWhatItOwned() async throws {
    let simulation = try ClusterSimulation(seed: 1, faults: 0)
    #expect(try await simulation.run(rounds: 2, faulty: false, owned: Partition.all) == [])
  }

  @Test("carried out orders leave the queue, whatever calls are lost")
  func finishesOrders() async throws {
    let simulation = try ClusterSimulation(seed: 3, hosts: 1, faults: 40)
    for number in 0..<20 {
      let name = "c\(number % 5)"
      for order in [RecordContents.hold(conversation: name), .flush, .release(conversation: name)] {
        let id = try #require(RecordID(RandomBytes.make(16).hex))
        let record = try ClusterSimulation.seal.record(order, as: id)
        _ = try await simulation.queue.append(record, as: id, to: Partition(of: ConversationID(name)))
      }
    }
    #expect(try await simulation.run(rounds: 4) == [])
  }

  @Test("texts that wait share records, a refused one among them")
  func sharesRecords() async throws {
    let simulation = try ClusterSimulation(seed: 1, hosts: 1, faults: 0)
    let host = simulation.hosts[0]
    let dropped = try (0..<30).map { try host.drop($0 == 7 ? "bad" : "text \($0)", to: "c0") }
    try await host.start()
    while try host.waiting() > 0 || !simulation.queue.unfinished.isEmpty { await Task.yield() }
    let states = try dropped.map { try host.story(of: $0)?.state }
    #expect(states.enumerated().allSatisfy { $0.element == ($0.offset == 7 ? .failed : .sent) })
    #expect(simulation.receiver.shown.map(\.request) == dropped.enumerated().filter { $0.offset != 7 }.map(\.element))
    #expect(simulation.queue.appended < 10)
    await host.kill()
  }

  @Test("a full partition delays only its own conversations")
  func delaysForRoom() async throws {
    let full = Partition(of: ConversationID(unchecked: "c0"))
    try await expectDelay(.serverBusy, flaw: .isFull(full))
  }

  @Test("photos are stored before their requests are relayed, and those behind the first meanwhile")
  func storesPhotosAhead() async throws {
    let full = Partition(of: ConversationID(unchecked: "c0"))
    let simulation = try ClusterSimulation(seed: 1, hosts: 1, faults: 0, flaw: .isFull(full))
    let host = simulation.hosts[0]
    let dropped = try (0..<3).map { _ in try host.drop("text", withPhoto: true, to: "c0") }
    try await host.start()
    while simulation.queue.blobs.count < dropped.count { await Task.yield() }
    #expect(try dropped.map { try host.story(of: $0)?.state } == [.queued, .queued, .queued])
    #expect(simulation.queue.appended == 0)
    await host.kill()
    // Bytes that nobody can open, as after a change of the secret, are replaced.
    let (queue, names) = (simulation.queue, simulation.queue.blobs)
    for name in names { try await queue.put([1], as: name) }
    try await host.start()
    for name in names { while try await queue.get(name) == [1] { await Task.yield() } }
    await host.kill()
  }

  @Test("photos that cannot be stored delay only their own conversations")
  func delaysForBytes() async throws { try await expectDelay(.network, flaw: .keepsNoBytes) }

  /// Expects that a conversation with a photo waits because of `cause`, and texts of others do not.
  private func expectDelay(_ cause: Cause, flaw: HostQueue.Flaw) async throws {
    let simulation = try ClusterSimulation(seed: 1, hosts: 1, faults: 0, flaw: flaw)
    let host = simulation.hosts[0]
    try await host.start()
    let delayed = try host.drop("text", withPhoto: true, to: "c0")
    while try host.story(of: delayed)?.messages.contains(where: { $0.cause != nil }) != true { await Task.yield() }
    let others = try (1...3).map { try host.drop("text", to: "c\($0)") }
    while try others.contains(where: { try host.story(of: $0)?.state != .sent }) { await Task.yield() }
    let causes = try host.story(of: delayed)?.messages.compactMap(\.cause) ?? []
    #expect(Set(causes) == [cause.rawValue])
    await host.kill()
  }

  /// Whether one of many seeds shows what is wrong.
  private func isCaught(
    _ word: String, patience: Duration = .seconds(240), _ make: (UInt64) throws -> ClusterSimulation
  ) async throws -> Bool {
    for seed in UInt64(1)...20 {
      let wrong = try await make(seed).run(rounds: 6, patience: patience)
      if wrong.contains(where: { $0.hasPrefix(word) }) { return true }
    }
    return false
  }
}
