import Clusters
import Messages
import Synchronization
import TestSupport

/// Whether a host of a simulated cluster lives, sleeps or is dead.
final class HostGate: Sendable {
  private enum State {
    case awake, asleep, dead
  }

  private let state = Mutex(State.awake)

  func sleep() { state.withLock { if $0 == .awake { $0 = .asleep } } }
  func wake() { state.withLock { if $0 == .asleep { $0 = .awake } } }
  func kill() { state.withLock { $0 = .dead } }

  var isDead: Bool { state.withLock { $0 == .dead } }

  /// Waits while the host sleeps. Returns whether it did; nothing goes on in a dead one.
  func pass() async throws(QueueError) -> Bool {
    var slept = false
    while true {
      switch state.withLock({ $0 }) {
      case .awake: return slept
      case .dead: throw .unavailable("the host is dead")
      case .asleep:
        slept = true
        // A task of its own, because a cancelled one would not wait.
        await Task { try? await Task.sleep(for: .milliseconds(1)) }.value
      }
    }
  }
}

/// One host's connection to the shared queue: calls are lost before or after their effect, or arrive late.
final class HostQueue: Queue, BlobStore {
  /// A planted error, to prove that the tests notice it.
  enum Flaw: Sendable {
    case none
    /// Records are finished when they are read.
    case acknowledgesFirst
    /// Failures do not become facts.
    case givesUpSilently
    /// A partition has no room. This is no error, and so is the next one.
    case isFull(Partition)
    /// The store of photos is away.
    case keepsNoBytes
  }

  /// The faults of all queues until now.
  static let injected = Mutex(0)

  private let shared: MemoryQueue
  let gate: HostGate
  private let random: Mutex<SeededRandom>
  /// How many of 100 calls fail.
  private let faults: Mutex<Int>
  private let flaw: Flaw
  /// Called before all owners are read.
  private let pause: @Sendable () async -> Void

  init(
    _ shared: MemoryQueue, gate: HostGate, seed: UInt64, faults: Int, flaw: Flaw = .none,
    pause: @escaping @Sendable () async -> Void = {}
  ) {
    self.shared = shared
    self.gate = gate
    random = Mutex(SeededRandom(seed: seed))
    self.faults = Mutex(faults)
    self.flaw = flaw
    self.pause = pause
  }

  func mend() { faults.withLock { $0 = 0 } }

  /// - Parameter connected: refused after a sleep of the host, as its connection is dead, and never very late.
  private func call<Answer: Sendable>(
    connected: Bool = false, _ body: @escaping @Sendable () async throws(QueueError) -> Answer
  ) async throws(QueueError) -> Answer {
    if try await gate.pass(), connected { throw .unavailable("the connection is dead") }
    let rate = faults.withLock { $0 }
    let (isFaulty, kind) = random.withLock { ($0.below(100) < rate, $0.below(3)) }
    guard isFaulty else {
      let answer = try await body()
      _ = try await gate.pass()
      return answer
    }
    Self.injected.withLock { $0 += 1 }
    switch kind {
    case 0: throw .unavailable("no server answers")
    case 1:
      _ = try await body()
      throw .doubtful("the answer was lost")
    default:
      let begin = ContinuousClock.now
      Task {
        try? await Task.sleep(for: .milliseconds(5))
        // On a busy machine it could be later than any lease.
        if connected, .now - begin > .milliseconds(20) { return }
        _ = try? await body()
      }
      throw .doubtful("it is late")
    }
  }

  func append(_ record: [UInt8], as id: RecordID, to partition: Partition) async throws(QueueError) -> Position {
    if case .isFull(partition) = flaw { throw .full("there is no room") }
    return try await call { [shared] () async throws(QueueError) in
      try await shared.append(record, as: id, to: partition)
    }
  }

  func find(_ id: RecordID, in partition: Partition) async throws(QueueError) -> Position? {
    try await call { [shared] () async throws(QueueError) in try await shared.find(id, in: partition) }
  }

  func record(after position: Position, in partition: Partition) async throws(QueueError) -> StoredRecord? {
    try await call { [shared] () async throws(QueueError) in try await shared.record(after: position, in: partition) }
  }

  func owners() async throws(QueueError) -> [Partition: HostID] {
    await pause()
    return try await call { [shared] () async throws(QueueError) in try await shared.owners() }
  }

  func take(
    _ partition: Partition, for host: HostID, replacing replaced: Set<HostID>
  ) async throws(QueueError) -> (any OwnedPartition)? {
    let taken = try await call { [shared] () async throws(QueueError) in
      try await shared.take(partition, for: host, replacing: replaced)
    }
    return taken.map { Owned(queue: self, owned: $0) }
  }

  private final class Owned: OwnedPartition {
    let queue: HostQueue
    let owned: any OwnedPartition
    var inherited: Position { owned.inherited }

    init(queue: HostQueue, owned: any OwnedPartition) { (self.queue, self.owned) = (queue, owned) }

    func read(limit: Int) async throws(QueueError) -> [StoredRecord] {
      _ = try await queue.gate.pass()
      let records = try await owned.read(limit: limit)
      if case .acknowledgesFirst = queue.flaw { for record in records { try await owned.finish(record.position) } }
      return records
    }

    func finish(_ position: Position) async throws(QueueError) {
      try await queue.call { [owned] () async throws(QueueError) in try await owned.finish(position) }
    }

    func release() async { if !queue.gate.isDead { await owned.release() } }
  }

  func conclude(_ fact: [UInt8], of id: RecordID, from origin: HostID) async throws(QueueError) -> [UInt8] {
    let isFailure = (try? ClusterSimulation.seal.ends(fact, of: id))?.contains { $0.state == .failed } ?? false
    if case .givesUpSilently = flaw, isFailure { return fact }
    // After a long sleep the connection is dead, so that a failure from before it does not become a fact.
    return try await call(connected: isFailure) { [shared] () async throws(QueueError) in
      try await shared.conclude(fact, of: id, from: origin)
    }
  }

  func fact(of id: RecordID, from origin: HostID) async throws(QueueError) -> [UInt8]? {
    try await call { [shared] () async throws(QueueError) in try await shared.fact(of: id, from: origin) }
  }

  func facts(for origin: HostID, after position: Position, limit: Int) async throws(QueueError) -> [StoredFact] {
    _ = try await gate.pass()
    return try await shared.facts(for: origin, after: position, limit: limit)
  }

  func put(_ bytes: [UInt8], as name: BlobName) async throws(QueueError) {
    if case .keepsNoBytes = flaw { throw .unavailable("the store is away") }
    try await call { [shared] () async throws(QueueError) in try await shared.put(bytes, as: name) }
  }

  func get(_ name: BlobName) async throws(QueueError) -> [UInt8]? {
    try await call { [shared] () async throws(QueueError) in try await shared.get(name) }
  }

  func remove(_ parts: [Int], of record: RecordID) async throws(QueueError) {
    try await call { [shared] () async throws(QueueError) in try await shared.remove(parts, of: record) }
  }

  func beat(_ beat: Beat) async throws(QueueError) {
    try await call { [shared] () async throws(QueueError) in try await shared.beat(beat) }
  }

  func beats() async throws(QueueError) -> [StoredBeat] {
    try await call { [shared] () async throws(QueueError) in try await shared.beats() }
  }

  func faults() async throws(QueueError) -> [String] { [] }
  func close() async {}
}
