import Clusters
import Ledgers
import Logging
import Messages
import ServiceLifecycle
import Signalling

/// Takes this host's share of the partitions, reads their records into the owner's ledger, and gives up what it has too
/// much of, or has lost.
actor Partitions: Service, HasCore {
  private struct Owned {
    let handle: any OwnedPartition
    let reader: Task<Void, Never>
    /// Whether all records are known that an earlier owner may have read. Nothing is published before that: an order about
    /// the first ones may be behind them.
    var isRead = false
    /// Those of the lease when this host was last known to be the owner.
    var lapses: Int
  }

  private let link: ClusterLink
  private let lease: Lease
  private let dispatcher: Dispatcher
  private let bell = Bell()
  private var owned: [Partition: Owned] = [:]
  /// The latest tasks that leave partitions which their readers found lost.
  private var losses: [Partition: Task<Void, Never>] = [:]
  /// Partitions whose work is being stopped.
  private var leaving: Set<Partition> = []
  private var watch: HostWatch
  /// The workers at the last look at all owners; nil if shares change.
  private var settled: (workers: Set<HostID>, at: ContinuousClock.Instant, lapses: Int)?
  private var isStopping = false

  private static let work = "partitions cannot be taken"
  private static let recordsAtOnce = 64
  /// Partitions that are taken at the same time.
  private static let takenAtOnce = 8

  nonisolated var core: DeliveryCore { worker.core }
  private nonisolated var worker: ConversationWorker { dispatcher.worker }

  init(link: ClusterLink, lease: Lease, dispatcher: Dispatcher) {
    self.link = link
    self.lease = lease
    self.dispatcher = dispatcher
    watch = HostWatch(times: link.times)
  }

  func handle(of partition: Partition) -> (any OwnedPartition)? { owned[partition]?.handle }

  var count: Int { owned.count }

  func run() async throws {
    bell.ring()
    await bell.serve {
      bell.ring(in: link.times.beat / .seconds(1))
      try await look()
      troubles.end(Self.work)
    } failed: { error in
      troubles.tell(Self.work, error)
      return link.times.beat / .seconds(1)
    }
    isStopping = true
    for part in owned.values { part.reader.cancel() }
  }

  /// Gives all partitions up, after all work has ended, so that other hosts need not wait for the lease.
  func releaseAll() async {
    isStopping = true
    let all = owned
    owned = [:]
    for partition in all.keys { lease.close(partition) }
    for part in all.values { part.reader.cancel() }
    await withTaskGroup(of: Void.self) { group in
      for part in all.values { group.addTask { await part.handle.release() } }
    }
    // The ledger is closed after this, so nobody may use it any more.
    for part in all.values { await part.reader.value }
    for task in losses.values { await task.value }
  }

  /// Another owner has the partition.
  ///
  /// - Parameter handle: what was lost. This host may own the partition again since then.
  func lost(_ partition: Partition, _ handle: any OwnedPartition) async {
    guard let part = owned[partition], part.handle === handle else { return }
    await lost([partition: part])
  }

  /// Leaves a lost partition in a task of its own, because that waits for the caller, its reader.
  private func leaveLater(_ partition: Partition, _ handle: any OwnedPartition) {
    losses[partition] = Task { await self.lost(partition, handle) }
  }

  private func lost(_ parts: [Partition: Owned]) async {
    for partition in parts.keys.sorted() {
      log.warning("another host owns a partition now", metadata: ["partition": "\(partition)"])
    }
    await leave(parts)
  }

  // MARK: The share

  /// Takes, gives back and leaves partitions, as the beats and the owners want it now.
  func look() async throws {
    let beats = try await link.queue.beats()
    // Who is dead is judged as of now. Later, after a pause, all would seem dead.
    let seen = ContinuousClock.now
    watch.look(beats, at: seen)
    // Taking a partition from a server that is down takes seconds.
    defer { if let until = lease.hasWorked(since: seen) { watch.hasWorked(until: until) } }
    guard link.works, !isStopping else { return }
    let workers = watch.workers(at: seen).union([link.host])
    let share = (Partition.count + workers.count - 1) / workers.count
    if owned.count > share { return await giveBack(owned.count - share) }
    // Asking for all owners costs one request per partition. Readers notice most losses by themselves.
    let lapses = lease.lapses
    if let settled, settled.workers == workers, settled.lapses == lapses, seen - settled.at < link.times.lease {
      return
    }
    let owners = try await link.queue.owners()
    await lost(owned.filter { owners[$0.key] != link.host })
    for partition in owned.keys { owned[partition]?.lapses = lapses }
    lease.admit(owned.filter(\.value.isRead).keys, lapses: lapses)
    guard lease.isValid, !isStopping else { return }
    let idle = Partition.all.filter { owned[$0] == nil && !leaving.contains($0) }
    // Partitions that this host owned before a restart, or took without hearing the answer: nobody else takes them. The next
    // look gives back those beyond its share.
    let own = idle.filter { owners[$0] == link.host }
    let free = idle.filter { owners[$0].map { watch.isDead($0, at: seen) } ?? true && owners[$0] != link.host }
    let more = max(0, share - owned.count - own.count)
    let wanted = own + free.shuffled().prefix(more)
    await take(wanted, from: owners, seen: seen, lapses: lapses)
    // A host that has too much will give back.
    let counts = Dictionary(owners.values.map { ($0, 1) }, uniquingKeysWith: +)
    let isSettled = wanted.allSatisfy { owned[$0] != nil } && counts.values.allSatisfy { $0 <= share }
    settled = isSettled ? (workers, seen, lapses) : nil
  }

  /// Gives what is too much to other hosts.
  private func giveBack(_ count: Int) async {
    let surplus = Set(owned.keys.sorted().suffix(count))
    for partition in surplus.sorted() {
      log.info("gives a partition to another host", metadata: ["partition": "\(partition)"])
    }
    await leave(owned.filter { surplus.contains($0.key) }) { await $0.release() }
  }

  /// - Parameters:
  ///   - seen: when the beats were read.
  ///   - lapses: those of the lease before.
  private func take(
    _ partitions: [Partition], from owners: [Partition: HostID], seen: ContinuousClock.Instant, lapses: Int
  ) async {
    for start in stride(from: 0, to: partitions.count, by: Self.takenAtOnce) {
      // Who was dead may live again since then; the next look tells.
      guard .now - seen < link.times.lease / 2 else { return bell.ring() }
      let chunk = partitions[start..<min(start + Self.takenAtOnce, partitions.count)]
      let taken = await withTaskGroup(of: (Partition, (any OwnedPartition)?).self) { [link] group in
        for partition in chunk {
          let former = owners[partition].map { Set([$0]) } ?? []
          group.addTask {
            (partition, try? await link.queue.take(partition, for: link.host, replacing: former))
          }
        }
        return await group.reduce(into: [(Partition, any OwnedPartition)]()) { all, next in
          if let handle = next.1 { all.append((next.0, handle)) }
        }
      }
      for (partition, handle) in taken { admit(partition, handle, lapses: lapses) }
      if isStopping || !lease.isValid { return }
    }
  }

  private func admit(_ partition: Partition, _ handle: any OwnedPartition, lapses: Int) {
    if isStopping {
      Task { await handle.release() }
      return
    }
    let reader = Task { await self.read(partition, handle) }
    owned[partition] = Owned(handle: handle, reader: reader, lapses: lapses)
    log.info("owns a partition", metadata: ["partition": "\(partition)"])
  }

  private func hasRead(_ partition: Partition, _ handle: any OwnedPartition) {
    guard let part = owned[partition], part.handle === handle else { return }
    owned[partition]?.isRead = true
    lease.admit([partition], lapses: part.lapses)
    signals.ringAll()
  }

  /// Forgets partitions: nothing of them is sent any more, and their work is stopped.
  ///
  /// - Parameter ended: called for each, after its work has stopped.
  private func leave(
    _ parts: [Partition: Owned], ended: @escaping @Sendable (any OwnedPartition) async -> Void = { _ in }
  ) async {
    if parts.isEmpty { return }
    settled = nil
    for (partition, part) in parts {
      owned[partition] = nil
      leaving.insert(partition)
      lease.close(partition)
      part.reader.cancel()
    }
    for part in parts.values { await part.reader.value }
    // The ledger knows all conversations of this process, so they are read once.
    var served: [Partition: [Int64]] = [:]
    do {
      for row in try await ledger.servedConversations() {
        served[Partition(of: row.conversation), default: []].append(row.row)
      }
    } catch { log.error("the owner's ledger failed", metadata: ["error": "\(error)"]) }
    await withTaskGroup(of: Void.self) { [served] group in
      for (partition, part) in parts {
        group.addTask {
          await self.stop(served[partition] ?? [], of: partition)
          await ended(part.handle)
        }
      }
    }
  }

  /// Ends the work for conversations that have another owner now.
  private func stop(_ conversations: [Int64], of partition: Partition) async {
    // After the work, which asks the gate.
    defer {
      worker.gate?.forget(partition)
      leaving.remove(partition)
    }
    do {
      let messages = try await ledger.disown(partition, conversations)
      for conversation in conversations { await dispatcher.stop(conversation) }
      try? await worker.photos.discard(messages)
      signals.sweeper.ring()
      // Workers that have ended since then may have counted or postponed what was forgotten.
      _ = try await ledger.disown(partition, conversations)
    } catch {
      log.error("the owner's ledger failed", metadata: ["error": "\(error)"])
    }
  }

  // MARK: Reading

  /// Reads records into the ledger until the partition is lost or left.
  private nonisolated func read(_ partition: Partition, _ handle: any OwnedPartition) async {
    // One sentence for all: a server that is away concerns most partitions.
    let work = "records of the cluster cannot be read"
    var pending: [StoredRecord] = []
    var (isRead, last) = (false, Position(0))
    // Orders that are carried out. They are known here alone until they are finished.
    var finished: [Position] = []
    while !Task.isCancelled {
      do {
        if !isRead, try await isLast(last, in: partition, handle) {
          isRead = true
          await hasRead(partition, handle)
        }
        if pending.isEmpty { pending = try await handle.read(limit: Self.recordsAtOnce) }
        let (opened, failure) = open(pending, partition, handle)
        let changes = try await enter(opened)
        finished += changes.finished
        last = max(last, opened.last?.position ?? 0)
        if !isRead, failure != nil {
          // Nothing behind it can be read.
          isRead = true
          await hasRead(partition, handle)
        } else if isRead, changes.hasWork {
          signals.ringAll()
        }
        pending.removeFirst(opened.count)
        while let position = finished.first {
          try await handle.finish(position)
          finished.removeFirst()
        }
        if let failure { throw failure }
        troubles.end(work)
      } catch QueueError.lost {
        return await leaveLater(partition, handle)
      } catch {
        if Task.isCancelled { return }
        troubles.tell(work, error)
        try? await Task.sleep(for: link.times.beat)
      }
    }
  }

  /// Whether no record behind `position` was there when the partition was taken.
  private nonisolated func isLast(
    _ position: Position, in partition: Partition, _ handle: any OwnedPartition
  ) async throws(QueueError) -> Bool {
    let inherited = handle.inherited
    if position >= inherited { return true }
    return try await link.queue.record(after: position, in: partition).map { $0.position > inherited } ?? true
  }

  /// Opens records up to the first one that cannot be read: those behind it may be of the same conversation.
  private nonisolated func open(
    _ records: [StoredRecord], _ partition: Partition, _ handle: any OwnedPartition
  ) -> (opened: [OwnedRecord], failure: SealedError?) {
    var opened: [OwnedRecord] = []
    for record in records {
      do throws(SealedError) {
        opened.append(
          OwnedRecord(
            id: record.id, position: record.position, partition: partition,
            contents: try link.seal.contents(of: record), isInherited: record.position <= handle.inherited))
      } catch { return (opened, error) }
    }
    return (opened, nil)
  }

  private nonisolated func enter(_ records: [OwnedRecord]) async throws -> OwnedChanges {
    if records.isEmpty { return OwnedChanges() }
    let changes = try await ledger.own(records, at: .now())
    if !changes.cancelled.isEmpty { try? await worker.photos.discard(changes.cancelled) }
    if changes.isFlushed { await worker.circuits.closeAll() }
    return changes
  }
}
