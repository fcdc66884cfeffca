import Clusters
import Synchronization

/// A queue in memory that keeps every promise of `Queue`. All hosts of a test share one.
package final class MemoryQueue: Queue, BlobStore {
  private struct Part {
    var last: Position = 0
    var records: [StoredRecord] = []
    /// When each was appended.
    var known: [RecordID: (position: Position, at: ContinuousClock.Instant)] = [:]
    var owner: HostID?
    /// Grows with every owner, so that an earlier one finds that it has lost the partition.
    var epoch = 0
  }

  private struct State {
    var parts: [Partition: Part] = [:]
    var facts: [HostID: [StoredFact]] = [:]
    var blobs: [BlobName: [UInt8]] = [:]
    var beats: [HostID: StoredBeat] = [:]
    var beatNumber: UInt64 = 0
  }

  private let state = Mutex(State())
  /// How long reads wait for something.
  private let patience: Duration
  private let memory: Duration

  /// - Parameter memory: how long an id is known after it was appended.
  package init(patience: Duration = .milliseconds(50), memory: Duration = .seconds(Partition.memory)) {
    (self.patience, self.memory) = (patience, memory)
  }

  // MARK: For tests

  /// The records that nobody has finished.
  package var unfinished: [RecordID] { state.withLock { $0.parts.values.flatMap { $0.records.map(\.id) } } }

  /// How many records were appended.
  package var appended: UInt64 { state.withLock { $0.parts.values.reduce(0) { $0 + $1.last } } }

  package var blobs: Set<BlobName> { state.withLock { Set($0.blobs.keys) } }

  /// Loses a record, as an engine that breaks its promise.
  package func lose(_ id: RecordID) {
    state.withLock { state in
      for partition in state.parts.keys {
        state.parts[partition]?.records.removeAll { $0.id == id }
        state.parts[partition]?.known[id] = nil
      }
    }
  }

  // MARK: Records

  package func append(
    _ record: [UInt8], as id: RecordID, to partition: Partition
  ) async throws(QueueError) -> Position {
    state.withLock { state in
      if let known = state.parts[partition]?.known[id] {
        let waits = state.parts[partition]?.records.contains { $0.id == id } ?? false
        if waits || .now - known.at < memory { return known.position }
      }
      let position = (state.parts[partition]?.last ?? 0) + 1
      state.parts[partition, default: Part()].last = position
      state.parts[partition]?.known[id] = (position, .now)
      state.parts[partition]?.records.append(StoredRecord(position: position, id: id, record: record))
      return position
    }
  }

  package func find(_ id: RecordID, in partition: Partition) async throws(QueueError) -> Position? {
    state.withLock { $0.parts[partition]?.records.first { $0.id == id }?.position }
  }

  package func record(
    after position: Position, in partition: Partition
  ) async throws(QueueError) -> StoredRecord? {
    state.withLock { $0.parts[partition]?.records.first { $0.position > position } }
  }

  // MARK: Owners

  package func owners() async throws(QueueError) -> [Partition: HostID] {
    state.withLock { $0.parts.compactMapValues(\.owner) }
  }

  package func take(
    _ partition: Partition, for host: HostID, replacing replaced: Set<HostID>
  ) async throws(QueueError) -> (any OwnedPartition)? {
    let taken: (epoch: Int, last: Position)? = state.withLock { state in
      var part = state.parts[partition] ?? Part()
      if let owner = part.owner, owner != host, !replaced.contains(owner) { return nil }
      part.owner = host
      part.epoch += 1
      state.parts[partition] = part
      return (part.epoch, part.last)
    }
    return taken.map { Owned(queue: self, partition: partition, epoch: $0.epoch, inherited: $0.last) }
  }

  private final class Owned: OwnedPartition {
    let queue: MemoryQueue
    let partition: Partition
    let epoch: Int
    let inherited: Position
    private let next = Mutex<Position>(1)

    init(queue: MemoryQueue, partition: Partition, epoch: Int, inherited: Position) {
      self.inherited = inherited
      self.queue = queue
      self.partition = partition
      self.epoch = epoch
    }

    func read(limit: Int) async throws(QueueError) -> [StoredRecord] {
      let end = ContinuousClock.now + queue.patience
      while true {
        let first = next.withLock { $0 }
        let records: [StoredRecord]? = queue.state.withLock { state in
          guard let part = state.parts[partition], part.epoch == epoch else { return nil }
          return Array(part.records.lazy.filter { $0.position >= first }.prefix(limit))
        }
        guard let records else { throw .lost }
        if let last = records.last {
          next.withLock { $0 = max($0, last.position + 1) }
          return records
        }
        if ContinuousClock.now >= end || Task.isCancelled { return [] }
        try? await Task.sleep(for: .milliseconds(5))
      }
    }

    func finish(_ position: Position) async throws(QueueError) {
      let isOwner = queue.state.withLock { state in
        guard state.parts[partition]?.epoch == epoch else { return false }
        state.parts[partition]?.records.removeAll { $0.position == position }
        return true
      }
      if !isOwner { throw .lost }
    }

    func release() async {
      queue.state.withLock { state in
        guard state.parts[partition]?.epoch == epoch else { return }
        state.parts[partition]?.epoch += 1
        state.parts[partition]?.owner = nil
      }
    }
  }

  // MARK: Facts

  package func conclude(
    _ fact: [UInt8], of id: RecordID, from origin: HostID
  ) async throws(QueueError) -> [UInt8] {
    state.withLock { state in
      if let standing = state.facts[origin]?.first(where: { $0.id == id }) { return standing.fact }
      let position = Position((state.facts[origin]?.count ?? 0) + 1)
      state.facts[origin, default: []].append(StoredFact(position: position, id: id, fact: fact))
      return fact
    }
  }

  package func fact(of id: RecordID, from origin: HostID) async throws(QueueError) -> [UInt8]? {
    state.withLock { $0.facts[origin]?.first { $0.id == id }?.fact }
  }

  package func facts(
    for origin: HostID, after position: Position, limit: Int
  ) async throws(QueueError) -> [StoredFact] {
    let end = ContinuousClock.now + patience
    while true {
      let facts = state.withLock { state in
        Array((state.facts[origin] ?? []).lazy.filter { $0.position > position }.prefix(limit))
      }
      if !facts.isEmpty || ContinuousClock.now >= end || Task.isCancelled { return facts }
      try? await Task.sleep(for: .milliseconds(5))
    }
  }

  // MARK: Bytes

  package func put(_ bytes: [UInt8], as name: BlobName) async throws(QueueError) {
    state.withLock { $0.blobs[name] = bytes }
  }

  package func get(_ name: BlobName) async throws(QueueError) -> [UInt8]? { state.withLock { $0.blobs[name] } }

  package func remove(_ parts: [Int], of record: RecordID) async throws(QueueError) {
    state.withLock { state in for part in parts { state.blobs[BlobName(record: record, part: part)] = nil } }
  }

  // MARK: Hosts

  package func beat(_ beat: Beat) async throws(QueueError) {
    state.withLock { state in
      state.beatNumber += 1
      state.beats[beat.host] = StoredBeat(beat: beat, number: state.beatNumber)
    }
  }

  package func beats() async throws(QueueError) -> [StoredBeat] { state.withLock { Array($0.beats.values) } }

  package func faults() async throws(QueueError) -> [String] { [] }

  package func close() async {}
}
