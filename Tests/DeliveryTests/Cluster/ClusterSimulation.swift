import Blocking
import Clusters
import Digests
import DurableFiles
import Ledgers
import Messages
import Networks
import Photos
import Seals
import Settings
import Spooling
import Stores
import Synchronization
import TestSupport
import Testing

@testable import Delivery

/// Several whole daemons in this process on one queue in memory, with faults by seed.
struct ClusterSimulation {
  static let seal = ClusterSeal(secret: Array("a secret of the simulation".utf8))

  let queue: MemoryQueue
  let receiver: SharedReceiver
  let hosts: [SimulatedHost]
  private let seed: UInt64

  /// - Parameter search: how soon lost requests are looked for.
  init(
    seed: UInt64, hosts count: Int = 3, faults: Int = 10, knowsIDs: Bool = true, flaw: HostQueue.Flaw = .none,
    search: Duration = .milliseconds(300)
  ) throws {
    self.seed = seed
    receiver = SharedReceiver(seed: seed, knowsIDs: knowsIDs)
    var times = ClusterTimes()
    times.lease = .milliseconds(600)
    times.margin = .milliseconds(100)
    times.beat = .milliseconds(60)
    times.search = search
    times.memory = .seconds(1)
    queue = MemoryQueue(patience: .milliseconds(20), memory: times.memory)
    let (queue, receiver) = (queue, receiver)
    hosts = try (0..<count).map { number in
      try SimulatedHost(number: number, times: times) { gate, life in
        let seed = seed &+ UInt64(number * 1000 + life)
        return (
          HostQueue(queue, gate: gate, seed: seed, faults: faults, flaw: flaw),
          HostNetwork(receiver: receiver, gate: gate, remembers: seed % 2 == 0, seed: seed)
        )
      }
    }
  }

  /// Drops texts, some of them with a photo, on all hosts while hosts are killed and put to sleep, and waits until all have ended.
  ///
  /// - Returns: what is wrong; empty if nothing is.
  /// - Parameter owned: partitions that the first host owned before it was started.
  func run(
    rounds: Int, perRound: Int = 4, faulty: Bool = true, owned: [Partition] = [], patience: Duration = .seconds(240)
  ) async throws -> [String] {
    for partition in owned { _ = try await queue.take(partition, for: hosts[0].id, replacing: []) }
    var random = SeededRandom(seed: seed)
    for host in hosts { try await host.start() }
    var dropped: [(host: Int, request: String, conversation: String)] = []
    for _ in 0..<rounds {
      for host in hosts.indices {
        for _ in 0..<perRound {
          let conversation = "c\(random.below(4))"
          let kind = ["odd", "bad", "text", "text", "text", "text"][random.below(6)]
          let withPhoto = kind == "text" && random.below(4) == 0
          let request = try hosts[host].drop("\(kind) \(dropped.count)", withPhoto: withPhoto, to: conversation)
          dropped.append((host, request, conversation))
        }
      }
      if faulty {
        let host = hosts[random.below(hosts.count)]
        switch random.below(3) {
        case 0:
          await host.kill()
          try await host.start()
        case 1:
          host.sleep()
          // Others take it for dead meanwhile.
          try await Task.sleep(for: .milliseconds(700 + random.below(300)))
          host.wake()
        default: try await Task.sleep(for: .milliseconds(random.below(100)))
        }
      }
    }
    for host in hosts { host.mend() }
    let isOver = try await waitUntilAllEnded(patience)
    let wrong = try judge(dropped, isOver: isOver)
    for host in hosts { await host.kill() }
    return wrong
  }

  private func waitUntilAllEnded(_ patience: Duration) async throws -> Bool {
    let end = ContinuousClock.now + patience
    while ContinuousClock.now < end {
      if try hosts.allSatisfy({ try $0.waiting() == 0 }), queue.unfinished.isEmpty { return true }
      try await Task.sleep(for: .milliseconds(20))
    }
    return false
  }

  /// The oracle's words: LOST, DUP and ORDER.
  private func judge(
    _ dropped: [(host: Int, request: String, conversation: String)], isOver: Bool
  ) throws -> [String] {
    var wrong: [String] = []
    let shown = receiver.shown
    var ends: [String: RequestState] = [:]
    for entry in dropped {
      let state = try hosts[entry.host].story(of: entry.request)?.state
      ends[entry.request] = state
      let isShown = shown.contains { $0.request == entry.request }
      switch state {
      case .sent: if !isShown { wrong.append("LOST \(entry.request): sent and not shown") }
      case .failed: if isShown { wrong.append("ORDER \(entry.request): given up and shown") }
      default: wrong.append("LOST \(entry.request): \(state.map(\.rawValue) ?? "unknown") in the end")
      }
    }
    if !isOver { wrong.append("LOST: unfinished records \(queue.unfinished)") }
    let twice = Dictionary(shown.map { ($0.message, 1) }, uniquingKeysWith: +).filter { $0.value > 1 }
    if !twice.isEmpty { wrong.append("DUP: \(twice.count) messages were shown again") }
    for host in hosts.indices {
      for conversation in Set(dropped.map(\.conversation)) {
        let own = dropped.filter { $0.host == host && $0.conversation == conversation && ends[$0.request] == .sent }
        var seen = Set<String>()
        let names = Set(own.map(\.request))
        let order = shown.map(\.request).filter { names.contains($0) && seen.insert($0).inserted }
        if order != own.map(\.request) { wrong.append("ORDER of host \(host) in \(conversation)") }
      }
    }
    return wrong
  }
}

/// A daemon that can be killed, put to sleep and started again on its spool.
final class SimulatedHost: Sendable {
  typealias Surroundings = @Sendable (_ gate: HostGate, _ life: Int) -> (HostQueue, HostNetwork)

  private struct Life {
    let gate: HostGate
    let queue: HostQueue
    let task: Task<Void, any Error>
  }

  private let scratch: TemporaryDirectory
  private let spool: Spool
  let id: HostID
  private let times: ClusterTimes
  private let surroundings: Surroundings
  private let life = Mutex<(life: Life?, number: Int)>((nil, 0))

  init(number: Int, times: ClusterTimes, surroundings: @escaping Surroundings) throws {
    scratch = try TemporaryDirectory()
    spool = try Spool(creating: scratch.path("spool"))
    id = try #require(HostID(String(SHA256Digest(of: [UInt8(number)]).hex.prefix(32))))
    self.times = times
    self.surroundings = surroundings
  }

  func start() async throws {
    let number = life.withLock { life in
      life.number += 1
      return life.number
    }
    let gate = HostGate()
    let (queue, network) = surroundings(gate, number)
    var settings = Settings()
    settings.intake.rescan = .milliseconds(20)
    settings.delivery.backoff = RetryPolicy(first: .milliseconds(20), longest: .milliseconds(200))
    settings.delivery.probe = .milliseconds(100)
    let store = try DirectoryStore(
      directory: spool.objects.path, baseURL: nil, pool: BlockingPool(label: "store", threads: 1))
    let route = Route(
      seal: XMTPSeal(), store: store, network: network,
      key: RouteKey(seal: .xmtp, store: DestinationKey(store.name)))
    let plan = DeliveryPlan(
      settings: settings, destinations: Destinations(standard: route), preparer: EasyPreparer(), stopSeconds: nil)
    let link = ClusterLink(
      queue: queue, bytes: queue, seal: ClusterSimulation.seal, host: id, name: "host",
      works: true, routes: { "" }, times: times)
    let daemon = try await Daemon(spool: spool, plan: plan, cluster: link, log: silent)
    let task = Task { try await daemon.run(signals: []) }
    life.withLock { $0.life = Life(gate: gate, queue: queue, task: task) }
  }

  /// Nothing that the daemon does from now on leaves it; then it ends.
  func kill() async {
    guard
      let former = life.withLock({ life in
        defer { life.life = nil }
        return life.life
      })
    else { return }
    former.gate.kill()
    former.task.cancel()
    _ = await former.task.result
  }

  func sleep() { life.withLock { $0.life?.gate.sleep() } }
  func wake() { life.withLock { $0.life?.gate.wake() } }
  func mend() { life.withLock { $0.life?.queue.mend() } }

  func drop(_ text: String, withPhoto: Bool = false, to conversation: String) throws -> String {
    if withPhoto { try Directory(path: scratch.path).write([1, 2, 3], as: "photo") }
    return try Submission(
      to: ConversationID(conversation), from: nil, key: nil, text: text,
      photos: withPhoto ? [File(reading: scratch.path("photo"))] : []
    ).drop(into: spool.path).text
  }

  /// How many requests are neither filed nor refused.
  func waiting() throws -> Int { try spool.new.names().count + spool.cur.names().count }

  func story(of request: String) throws -> RequestStory? { try LedgerView(in: spool.state).story(of: request) }
}
