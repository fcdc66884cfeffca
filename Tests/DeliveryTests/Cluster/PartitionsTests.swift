import Clusters
import Messages
import TestSupport
import Testing

@testable import Delivery

@Suite(.timeLimit(.minutes(5))) struct PartitionsTests: LedgerSuite {
  let fresh: FreshLedger

  private let queue = MemoryQueue(patience: .milliseconds(1))

  private var times: ClusterTimes {
    var times = ClusterTimes()
    times.lease = .milliseconds(100)
    times.margin = .milliseconds(10)
    return times
  }

  private func host(_ number: Int) throws -> HostID {
    try #require(HostID(String(repeating: "\(number)", count: 32)))
  }

  private func beat(_ host: HostID) async throws {
    try await queue.beat(Beat(host: host, name: "host", works: true, version: 1, routes: ""))
  }

  /// The first host's partitions.
  ///
  /// - Parameter pause: called before all owners are read.
  private func partitions(_ lease: Lease, pause: @escaping @Sendable () async -> Void = {}) throws -> Partitions {
    let queue = HostQueue(queue, gate: HostGate(), seed: 1, faults: 0, pause: pause)
    return Partitions(
      link: ClusterLink(
        queue: queue, bytes: queue, seal: ClusterSimulation.seal, host: try host(1), name: "host", works: true,
        routes: { "" }, times: times),
      lease: lease, ledger: ledger, work: Partitions.Work(ring: {}, stop: { _, _ in }, changed: { _ in }),
      troubles: Troubles(log: silent), log: silent)
  }

  @Test("a host that slept while it looked takes no partition from the living")
  func sleepsInLook() async throws {
    let (own, other, lease) = (try host(1), try host(2), Lease(times: times))
    for partition in Partition.all { _ = try await queue.take(partition, for: other, replacing: []) }
    let partitions = try partitions(lease) { [queue, times] in
      try? await Task.sleep(for: times.lease)
      // Both hosts beat as soon as they wake up.
      lease.renew(askedAt: .now)
      try? await queue.beat(Beat(host: other, name: "host", works: true, version: 1, routes: ""))
    }
    lease.renew(askedAt: .now)
    try await beat(other)
    for _ in 0..<3 { try await partitions.look() }
    #expect(await partitions.count == 0)
    #expect(try await queue.owners().values.contains(own) == false)
  }

  @Test("a host takes the partitions of a dead one")
  func takesFromTheDead() async throws {
    let (other, lease) = (try host(2), Lease(times: times))
    for partition in Partition.all { _ = try await queue.take(partition, for: other, replacing: []) }
    try await beat(other)
    let partitions = try partitions(lease)
    while await partitions.count < Partition.count {
      lease.renew(askedAt: .now)
      try await partitions.look()
      try await Task.sleep(for: .milliseconds(5))
    }
    await partitions.releaseAll()
    #expect(try await queue.owners().isEmpty)
  }
}
