import Delivery
import DurableFiles
import GRDB
import Messages
import TestSupport

@testable import Ledgers

/// One life of a spool, drawn from a seed: clients, the daemon's steps, people who cancel, hold and purge, faults, kills.
///
/// The ledger is the real one, and so are the rules of retries and circuits. What stands between them is told again
/// here, one transaction at a time; `docs/reliability.md` says what that leaves out.
final class Simulation {
  var random: SeededRandom
  let ledger: Ledger
  let plant: Plant?
  var now = Timestamp(milliseconds: 1_800_000_000_000)
  var world: World
  var memory = Memory()
  var faults = Faults()
  var oracle = Oracle()
  var kills = 0
  private(set) var trace: [String] = []
  private var dropsLeft: Int
  private var objects = 0
  private var offered: Set<String> = []

  static let conversations = ["family", "work", "friends"]
  static let lifetime = 500_000.0

  init(seed: UInt64, ledger: Ledger, plant: Plant?) {
    random = SeededRandom(seed: seed)
    self.ledger = ledger
    self.plant = plant
    let kinds = SimulatedNetwork.Kind.allCases
    world = World(network: SimulatedNetwork(kind: kinds[random.below(kinds.count)]))
    dropsLeft = 3 + random.below(6)
  }

  func note(_ words: String) { trace.append("\(now.milliseconds - 1_800_000_000_000) \(words)") }

  /// Lives to the end.
  ///
  /// - Throws: `BrokenPromise`.
  func run(steps: Int) async throws {
    for _ in 0..<steps { try await step() }
    try await rest()
    try await checkEnd()
  }

  private func step() async throws {
    switch random.below(40) {
    case 0..<6: drop()
    case 6: try await lookAtDraft()
    case 7: sendDraft()
    case 8..<13: try await intake()
    case 13..<29: try await serve()
    case 29..<31: try await file()
    case 31: try await cancel()
    case 32: try await setHeld()
    case 33: try await purge()
    case 34: try await sweep()
    case 35: try await evict()
    case 36: try await kill()
    case 37: try await probe()
    case 38: dropAgain()
    default: try await passTime()
    }
  }

  /// No more faults, and everything that is left to do.
  private func rest() async throws {
    faults.areOver = true
    dropsLeft = 0
    note("faults are over")
    for conversation in Self.conversations {
      _ = try await ledger.setHeld(false, ConversationID(unchecked: conversation), at: now)
    }
    for round in 0..<4000 {
      try await finishPurges()
      try await intake()
      try await serve()
      // What is seldom there is looked for seldom.
      if round % 4 == 3 {
        try await file()
        try await sweep()
        try await endDrafts()
        try await probe()
      }
      guard memory.workers.isEmpty, memory.entering.isEmpty, memory.filing.isEmpty, memory.deleting.isEmpty,
        world.new.isEmpty, try await ledger.dueConversations(at: now, limit: 1).isEmpty
      else { continue }
      // Those who wait for a destination are due only when they expire.
      if !memory.circuits.isEmpty, try await isParked() {
        try await probe()
      } else if let next = try await ledger.nextDue(after: now) {
        now = next
      } else if try await isIdle() {
        return
      }
    }
    throw BrokenPromise(description: "LOST: it does not come to rest")
  }

  /// An object was named to the network, so that somebody may have seen it.
  func offer(_ object: String?) { if let object { offered.insert(object) } }
  func wasOffered(_ object: String) -> Bool { offered.contains(object) }

  func object() -> String {
    objects += 1
    return "object-\(objects)"
  }

  // MARK: Clients

  private func drop() {
    guard dropsLeft > 0 else { return }
    dropsLeft -= 1
    let photos = random.below(3)
    var files = (0..<photos).map { "photo-\($0)" }
    if photos == 0 || random.below(3) == 0 { files.append("text") }
    // Names say nothing of the order.
    let drop = World.Drop(
      name: "r\(random.below(90) + 10)", inode: world.inode(), conversation: Self.conversations[random.below(3)],
      key: random.below(4) == 0 ? "key-\(random.below(2))" : nil, digest: "digest-\(random.below(2))", files: files,
      isBad: random.below(12) == 0)
    if random.below(5) == 0 && photos > 0 && !drop.isBad {
      world.drafts.append(drop)
    } else {
      arrive(drop)
    }
  }

  private func arrive(_ drop: World.Drop) {
    var drop = drop
    drop.arrival = world.arrival()
    world.new.append(drop)
    note("dropped \(drop.name) \(drop.inode) to \(drop.conversation)")
  }

  private func sendDraft() {
    guard !world.drafts.isEmpty else { return }
    arrive(world.drafts.remove(at: random.below(world.drafts.count)))
  }

  /// Somebody moves a request that failed into `new/` again.
  private func dropAgain() {
    let failed = world.failed.sorted { $0.inode < $1.inode }
    guard dropsLeft > 0, !failed.isEmpty else { return }
    dropsLeft -= 1
    let drop = failed[random.below(failed.count)]
    world.failed.removeAll { $0.inode == drop.inode }
    arrive(drop)
  }

  // MARK: Time and death

  private func passTime() async throws {
    if random.below(2) == 0, let next = try await ledger.nextDue(after: now), next.seconds(since: now) < 1000 {
      now = next
    } else {
      now = now.advanced(seconds: Double(random.below(60)))
    }
  }

  private func kill() async throws {
    kills += 1
    note("killed")
    memory = Memory()
    // Purges that were ordered close their conversations before anything enters.
    memory.closed = Set(world.orders)
    if plant == .doesNotRecover { return }
    let count = try await ledger.recover(at: now)
    note("recovered \(count)")
    for conversation in try await ledger.begunPurges() where !world.orders.contains(conversation.text) {
      throw BrokenPromise(description: "a purge of \(conversation) was begun that nobody ordered")
    }
  }
}
