import Clusters
import NATS
import Synchronization
import TestSupport
import Testing

/// Servers that are killed, suspended and emptied under a queue that is written and read all the time.
@Suite(.enabled(if: NATSServers.isInstalled), .timeLimit(.minutes(15))) struct NATSFaultTests {
  @Test func nothingIsLostOrReorderedWhateverHappensToServers() async throws {
    let cluster = try Cluster()
    let servers = cluster.servers
    let partitions = [7, 20, 33, 63].compactMap { Partition($0) }
    let works = partitions.map { Work($0, cluster.queue(), cluster.queue()) }
    try await withThrowingTaskGroup(of: Void.self) { group in
      for work in works {
        group.addTask { try await work.write() }
        group.addTask { try await work.read() }
      }
      func goOn() async { for work in works { await work.goOn(by: 25) } }
      await goOn()
      try servers.kill(1)
      await goOn()
      try servers.start(1)
      try servers.suspend(2)
      await goOn()
      try servers.resume(2)
      await goOn()
      try servers.killAll()
      try servers.startAll()
      await goOn()
      try servers.empty(3)
      try servers.start(3)
      await goOn()
      for work in works { work.end() }
      try await group.waitForAll()
    }
    for work in works {
      let (written, read) = work.result
      #expect(written.count >= 150 && read == written)
      #expect(try await work.reader.facts(for: work.host, after: 0, limit: 10_000).map(\.id) == written)
      await work.reader.close()
      await work.writer.close()
    }
  }

  @Test func aFullPartitionRefusesUntilThereIsRoom() async throws {
    let queue = try Cluster.shared().queue()
    let partition = try #require(Partition(8))
    let large = [UInt8](repeating: 1, count: 900_000)
    let positions = await appendUntilFull(large, to: partition, queue)
    #expect(positions.count > 3 && positions.count < 100)
    // Others are not affected.
    let other = try #require(Partition(9))
    #expect(await appendUntilFull(large, to: other, queue, atMost: 1).count == 1)
    let owned = try #require(try await queue.take(partition, for: host(), replacing: []))
    let records = try await owned.all(positions.count)
    #expect(records.map(\.position) == positions)
    for record in records { try await owned.finish(record.position) }
    // Room is made by and by.
    while await appendUntilFull(large, to: partition, queue, atMost: 1).isEmpty {
      try await Task.sleep(for: .milliseconds(50))
    }
    await queue.close()
  }

  /// Appends until the servers have no room.
  private func appendUntilFull(
    _ bytes: [UInt8], to partition: Partition, _ queue: NATSQueue, atMost limit: Int = 100
  ) async -> [Position] {
    var positions: [Position] = []
    while positions.count < limit {
      do throws(QueueError) { positions.append(try await queue.append(bytes, as: record(), to: partition)) } catch {
        if case .full = error { break }
        Issue.record("\(error)")
        break
      }
    }
    return positions
  }
}

/// One partition that is written by one host and read by another one.
private final class Work: Sendable {
  private struct State {
    var written: [RecordID] = []
    var read: [RecordID] = []
    var isEnding = false
    var isWritten = false
    /// Writing or reading is over, also by an error.
    var isOver = false
    var watchers: [(count: Int, continuation: CheckedContinuation<Void, Never>)] = []
  }

  let partition: Partition
  let writer: NATSQueue
  let reader: NATSQueue
  let host = NATSTests.host()
  private let state = Mutex(State())

  init(_ partition: Partition, _ writer: NATSQueue, _ reader: NATSQueue) {
    self.partition = partition
    self.writer = writer
    self.reader = reader
  }

  var result: (written: [RecordID], read: [RecordID]) { state.withLock { ($0.written, $0.read) } }

  func end() { state.withLock { $0.isEnding = true } }

  /// Until so many more are written and read.
  func goOn(by count: Int) async { await reached(state.withLock(\.read.count) + count) }

  private func reached(_ count: Int) async {
    await withCheckedContinuation { continuation in
      let isReached = state.withLock { state in
        if state.isOver || state.read.count >= count { return true }
        state.watchers.append((count, continuation))
        return false
      }
      if isReached { continuation.resume() }
    }
  }

  /// Appends one record after the other, each until the queue has it, some 20 before the reader.
  func write() async throws {
    defer { if !state.withLock(\.isWritten) { giveUp() } }
    while !state.withLock(\.isEnding) {
      await reached(state.withLock(\.written.count) - 20)
      let id = record()
      _ = try await insisting { try await self.writer.append(Array(id.text.utf8), as: id, to: self.partition) }
      state.withLock { $0.written.append(id) }
    }
    state.withLock { $0.isWritten = true }
  }

  /// Concludes and finishes all, once each.
  func read() async throws {
    defer { giveUp() }
    var last: Position = 0
    var owned: (any OwnedPartition)?
    while true {
      let isLast = state.withLock { $0.isWritten && $0.read.count >= $0.written.count }
      if isLast { return }
      do {
        if owned == nil { owned = try await reader.take(partition, for: host, replacing: []) }
        for record in try await owned?.read(limit: 20) ?? [] {
          guard record.position > last else {
            try await insisting { try await owned?.finish(record.position) }
            continue
          }
          let fact = try await insisting { try await self.reader.conclude([1], of: record.id, from: self.host) }
          #expect(fact == [1] && record.record == Array(record.id.text.utf8))
          last = record.position
          note(record.id)
          try await insisting { try await owned?.finish(record.position) }
        }
      } catch QueueError.lost {
        owned = nil
      } catch is QueueError {
        try await Task.sleep(for: .milliseconds(50))
      }
    }
  }

  /// Lets nobody wait for what does not come.
  private func giveUp() {
    let watchers = state.withLock { state in
      state.isOver = true
      defer { state.watchers = [] }
      return state.watchers
    }
    for watcher in watchers { watcher.continuation.resume() }
  }

  private func note(_ id: RecordID) {
    let reached = state.withLock { state in
      state.read.append(id)
      let reached = state.watchers.filter { $0.count <= state.read.count }
      state.watchers.removeAll { $0.count <= state.read.count }
      return reached
    }
    for watcher in reached { watcher.continuation.resume() }
  }

  /// The same call again after each fault that passes, as a host does.
  private func insisting<Output>(_ call: () async throws -> Output) async throws -> Output {
    while true {
      do { return try await call() } catch QueueError.unavailable {
        try await Task.sleep(for: .milliseconds(50))
      } catch QueueError.doubtful {
        try await Task.sleep(for: .milliseconds(50))
      }
    }
  }
}
