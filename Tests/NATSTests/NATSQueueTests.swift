import Clusters
import NATS
import TestSupport
import Testing

/// The queue on three real servers.
@Suite(.enabled(if: NATSServers.isInstalled), .timeLimit(.minutes(5))) struct NATSQueueTests {
  @Test func recordsAreReadInTheOrderOfTheirAppendsAndFinishedInAnyOrder() async throws {
    let queue = try Cluster.shared().queue()
    let partition = try #require(Partition(1))
    let ids = (0..<50).map { _ in record() }
    var positions: [Position] = []
    for (number, id) in ids.enumerated() {
      positions.append(try await queue.append([UInt8(number)], as: id, to: partition))
    }
    let first = try #require(try await queue.take(partition, for: host(), replacing: []))
    let records = try await first.all(50)
    #expect(records.map(\.id) == ids && records.map(\.position) == positions && positions == positions.sorted())
    #expect(records.map(\.record) == (0..<50).map { [UInt8($0)] })
    for position in positions.reversed() where position != positions[20] { try await first.finish(position) }
    try await first.finish(positions[3])
    await first.release()
    var second = try #require(try await queue.take(partition, for: host(), replacing: []))
    // The servers remove a record a moment after they have confirmed its end.
    while case let left = try await second.read(limit: 100).map(\.id), left != [ids[20]] {
      try #require(left.contains(ids[20]))
      await second.release()
      second = try #require(try await queue.take(partition, for: host(), replacing: []))
    }
    try await second.finish(positions[20])
    #expect(try await second.read(limit: 100).isEmpty)
    await second.release()
    await queue.close()
  }

  @Test func aRecordIsInTheQueueOnceAlsoAfterItWasFinished() async throws {
    let queue = try Cluster.shared().queue()
    let partition = try #require(Partition(2))
    let id = record()
    #expect(try await queue.find(id, in: partition) == nil)
    let position = try await queue.append([1], as: id, to: partition)
    #expect(try await queue.append([1], as: id, to: partition) == position)
    #expect(try await queue.find(id, in: partition) == position)
    let owned = try #require(try await queue.take(partition, for: host(), replacing: []))
    #expect(try await owned.all(1).count == 1)
    try await owned.finish(position)
    // The servers remove it a moment after they took its acknowledgement.
    while try await queue.find(id, in: partition) != nil {}
    #expect(try await queue.append([1], as: id, to: partition) == position)
    #expect(try await owned.read(limit: 10).isEmpty)
    await owned.release()
    await queue.close()
  }

  @Test func anOwnerWhosePartitionIsTakenNeitherReadsNorFinishes() async throws {
    let queue = try Cluster.shared().queue()
    let partition = try #require(Partition(3))
    let (sleeper, heir) = (host(), host())
    let position = try await queue.append([7], as: record(), to: partition)
    let old = try #require(try await queue.take(partition, for: sleeper, replacing: []))
    #expect(try await old.all(1).map(\.position) == [position])
    #expect(try await queue.take(partition, for: heir, replacing: []) == nil)
    #expect(try await queue.owners()[partition] == sleeper)
    let new = try #require(try await queue.take(partition, for: heir, replacing: [sleeper]))
    #expect(try await queue.owners()[partition] == heir)
    #expect(old.inherited == position && new.inherited == position)
    await #expect(throws: QueueError.lost) { try await old.finish(position) }
    await #expect(throws: QueueError.lost) { while true { _ = try await old.read(limit: 1) } }
    #expect(try await new.all(1).map(\.position) == [position])
    try await new.finish(position)
    // The old one's end does not touch the new one.
    await old.release()
    #expect(try await queue.owners()[partition] == heir)
    await new.release()
    #expect(try await queue.owners()[partition] == nil)
    await queue.close()
  }

  @Test func ofManyHostsOneTakesAPartition() async throws {
    let cluster = try Cluster.shared()
    let partition = try #require(Partition(4))
    let queues = (0..<6).map { _ in cluster.queue() }
    let dead = host()
    _ = try await queues[0].take(partition, for: dead, replacing: [])
    let taken = try await withThrowingTaskGroup(of: Bool.self) { group in
      for queue in queues {
        group.addTask { try await queue.take(partition, for: host(), replacing: [dead]) != nil }
      }
      return try await group.reduce(0) { $0 + ($1 ? 1 : 0) }
    }
    #expect(taken == 1)
    for queue in queues { await queue.close() }
  }

  @Test func theFirstFactStands() async throws {
    let queue = try Cluster.shared().queue()
    let (origin, id) = (host(), record())
    #expect(try await queue.fact(of: id, from: origin) == nil)
    #expect(try await queue.conclude([1], of: id, from: origin) == [1])
    #expect(try await queue.conclude([2], of: id, from: origin) == [1])
    #expect(try await queue.fact(of: id, from: origin) == [1])
    await queue.close()
  }

  @Test func factsOfAHostComeInOrderAndWhenTheyAreMade() async throws {
    let (queue, other) = (try Cluster.shared().queue(), try Cluster.shared().queue())
    let origin = host()
    let ids = (0..<5).map { _ in record() }
    async let news = queue.facts(for: origin, after: 0, limit: 10)
    for (number, id) in ids.enumerated() { _ = try await other.conclude([UInt8(number)], of: id, from: origin) }
    _ = try await other.conclude([9], of: record(), from: host())
    var facts = try await news
    while facts.count < 5 {
      facts += try await queue.facts(for: origin, after: facts.last?.position ?? 0, limit: 2)
    }
    #expect(facts.map(\.id) == ids && facts.map(\.fact) == (0..<5).map { [UInt8($0)] })
    #expect(try await queue.facts(for: origin, after: facts[3].position, limit: 9).map(\.id) == [ids[4]])
    for queue in [queue, other] { await queue.close() }
  }

  /// Servers tell of a fact before they store it, so a first look often comes too early.
  @Test func noReadEndsBeforeTheFactsThatAreBeingMade() async throws {
    let (queue, other) = (try Cluster.shared().queue(), try Cluster.shared().queue())
    let origin = host()
    let ids = (0..<60).map { _ in record() }
    async let made: Void = withThrowingTaskGroup(of: Void.self) { group in
      for id in ids { group.addTask { _ = try await other.conclude([1], of: id, from: origin) } }
      try await group.waitForAll()
    }
    var read: [StoredFact] = []
    while read.count < ids.count {
      let next = try await queue.facts(for: origin, after: read.last?.position ?? 0, limit: 100)
      try #require(!next.isEmpty, "after \(read.count) facts")
      read += next
    }
    try await made
    #expect(Set(read.map(\.id)) == Set(ids))
    for queue in [queue, other] { await queue.close() }
  }

  @Test(arguments: [0, 1, 262_144, 262_145, 900_000]) func bytesComeBackWhole(count: Int) async throws {
    let queue = try Cluster.shared().queue()
    let name = BlobName(record: record(), part: 3)
    let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8) }
    #expect(try await queue.get(name) == nil)
    try await queue.put([1, 2, 3], as: name)
    try await queue.put(bytes, as: name)
    #expect(try await queue.get(name) == bytes)
    try await queue.remove([3], of: name.record)
    try await queue.remove([3], of: name.record)
    #expect(try await queue.get(name) == nil)
    await queue.close()
  }

  @Test func everyBeatHasAnotherNumber() async throws {
    let queue = try Cluster.shared().queue()
    let beats = (0..<3).map { number in
      Beat(host: host(), name: "host \(number)", works: number > 0, version: 1, routes: "r")
    }
    for beat in beats { try await queue.beat(beat) }
    let first = try await queue.beats().filter { stored in beats.contains(stored.beat) }
    try await queue.beat(beats[1])
    let second = try await queue.beats().filter { stored in beats.contains(stored.beat) }
    #expect(Set(first.map(\.beat.host)) == Set(beats.map(\.host)) && second.count == 3)
    func number(_ host: HostID, _ found: [StoredBeat]) -> UInt64? { found.first { $0.beat.host == host }?.number }
    #expect(number(beats[0].host, first) == number(beats[0].host, second))
    #expect(number(beats[1].host, first) != number(beats[1].host, second))
    await queue.close()
  }

  @Test func serversAsTheyShouldBeHaveNoFault() async throws {
    let queue = try Cluster.shared().queue()
    #expect(try await queue.faults() == [])
    await queue.close()
    await #expect(throws: QueueError.unavailable("the connection to the cluster is closed")) {
      try await queue.beats()
    }
  }

  @Test func aWrongTokenIsRefused() async throws {
    let queue = try Cluster.shared().queue(token: "another")
    await #expect(throws: QueueError.refused("the servers of the cluster refuse the token; check `cluster.token`")) {
      try await queue.beats()
    }
    await queue.close()
  }

  @Test func serversThatDoNotRunAreUnavailableAndNamed() async throws {
    let queue = try Cluster.shared().queue(["nats://127.0.0.1:9"])
    await #expect(throws: QueueError.self) { try await queue.append([1], as: record(), to: #require(Partition(0))) }
    let faults = try await queue.faults()
    #expect(faults.first?.hasPrefix("nats://127.0.0.1:9 does not answer as a NATS server; ") == true)
    await queue.close()
  }

  @Test func serversWithoutRoomForTheStreamsSaySo() async throws {
    let cluster = try Cluster(bytes: 100_000_000)
    let queue = cluster.queue()
    await #expect {
      try await queue.beats()
    } throws: { error in
      if case .full(let sentence) = error as? QueueError { sentence.contains("max_file") } else { false }
    }
    #expect(!cluster.servers.token.isEmpty)
    await queue.close()
  }

  @Test func aRecordThatIsTooLargeIsRefused() async throws {
    let queue = try Cluster.shared().queue()
    let sentence = "a message is larger than the servers take; set their `max_payload` to at least 1 MB"
    await #expect(throws: QueueError.refused(sentence)) {
      try await queue.append([UInt8](repeating: 1, count: 2_000_000), as: record(), to: #require(Partition(5)))
    }
    await queue.close()
  }

  @Test func aMessageOfSomebodyElseIsPassedOver() async throws {
    let cluster = try Cluster.shared()
    let queue = cluster.queue()
    let partition = try #require(Partition(6))
    let id = record()
    #expect(try await queue.find(id, in: partition) == nil)
    try publish("ps.q.06.foreign", to: cluster.servers)
    _ = try await queue.append([1], as: id, to: partition)
    let owned = try #require(try await queue.take(partition, for: host(), replacing: []))
    #expect(try await owned.all(1).map(\.id) == [id])
    await owned.release()
    await queue.close()
  }

  private func publish(_ subject: String, to servers: NATSServers) throws {
    let program = """
      import asyncio, nats, sys
      async def main():
          client = await nats.connect(sys.argv[1], token=sys.argv[2])
          await client.jetstream().publish(sys.argv[3], b"{}", headers={"Status": "409", "Description": "Consumer Deleted"})
          await client.close()
      asyncio.run(main())
      """
    #expect(try run([python, "-c", program, servers.addresses[0], servers.token, subject]).status == 0)
  }
}
