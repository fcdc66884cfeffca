import Blocking
import Clusters
import Ledgers
import Messages
import Spooling
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
  /// - Parameters:
  ///   - gate: told of partitions that were left.
  ///   - pause: called before all owners are read.
  private func partitions(
    _ lease: Lease, gate: OwnerGate? = nil, pause: @escaping @Sendable () async -> Void = {}
  ) throws -> Partitions {
    let queue = HostQueue(queue, gate: HostGate(), seed: 1, faults: 0, pause: pause)
    let core = DeliveryCore(ledger, in: try Spool(creating: scratch.path("spool")))
    let files = RequestFiles(spool: core.spool, pool: BlockingPool(label: "owned", threads: 1))
    let circuits = Circuits(core)
    let photos = PhotoPipeline(core, files: files, circuits: circuits)
    var worker = ConversationWorker(core: core, files: files, photos: photos, circuits: circuits)
    worker.gate = gate
    return Partitions(link: try link(queue), lease: lease, dispatcher: Dispatcher(worker))
  }

  private func link(_ queue: HostQueue) throws -> ClusterLink {
    ClusterLink(
      queue: queue, bytes: queue, seal: ClusterSimulation.seal, host: try host(1), name: "host", works: true,
      routes: { "" }, times: times)
  }

  /// Enters a request of one text, as its owner reads it.
  private func own(_ text: String, in conversation: ConversationID) async throws -> QueuedMessage {
    try await ledger.emptyOwned()
    let request = RelayedRequest(
      host: try host(2), request: text, conversation: conversation.text, inbox: "me",
      acceptedAt: Timestamp.now().milliseconds,
      messages: [
        RelayedRequest.Message(
          message: text, kind: .text, position: 0, file: "text", bytes: 1, digest: "d", text: text,
          mayBePublished: false)
      ])
    let record = OwnedRecord(
      id: request.id, position: 1,
      partition: Partition(of: conversation), contents: .requests([request]), isInherited: false)
    _ = try await ledger.own([record], at: .now())
    return try #require(try await head().first)
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

  @Test("late news of a loss does not end a newer ownership")
  func keepsNewer() async throws {
    let partition = Partition(of: ConversationID(unchecked: "family"))
    let lease = Lease(times: times)
    let partitions = try partitions(lease)
    /// Looks until this host owns the partition.
    func owned() async throws -> any OwnedPartition {
      while true {
        lease.renew(askedAt: .now)
        try await partitions.look()
        if let handle = await partitions.handle(of: partition) { return handle }
      }
    }
    let former = try await owned()
    await partitions.lost(partition, former)
    #expect(await partitions.handle(of: partition) == nil)
    let present = try await owned()
    await partitions.lost(partition, former)
    #expect(await partitions.handle(of: partition) === present)
    await partitions.releaseAll()
  }

  @Test("a host forgets failures without an answer when it loses their partition")
  func forgetsFailures() async throws {
    let family = ConversationID(unchecked: "family")
    let (message, lease) = (try await own("x", in: family), Lease(times: times))
    // Every call fails.
    let gate = OwnerGate(
      link: try link(HostQueue(queue, gate: HostGate(), seed: 1, faults: 100)), lease: lease, ledger: ledger)
    let partitions = try partitions(lease, gate: gate)
    while await partitions.handle(of: Partition(of: family)) == nil {
      lease.renew(askedAt: .now)
      try await partitions.look()
    }
    while gate.wasGivenUp(message) == nil {
      lease.renew(askedAt: .now)
      // A lease that had ended covers nothing before this.
      try await partitions.look()
      _ = await gate.giveUp(message, DeliveryError(.rejected, "it is refused"))
    }
    // Another host takes it, and shows the message.
    _ = try await queue.take(Partition(of: family), for: host(2), replacing: [host(1)])
    while gate.wasGivenUp(message) != nil { await Task.yield() }
    await partitions.releaseAll()
  }
}
