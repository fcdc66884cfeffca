import Blocking
import Logging
import Messages
import Spooling
import Stores
import TestSupport
import Testing

@testable import Delivery
@testable import Ledgers

@Suite(.timeLimit(.minutes(5))) struct SweeperTests: LedgerSuite {
  let fresh: FreshLedger

  /// A store that cannot delete objects whose names begin with `bad`, and records calls.
  private final actor PickyStore: Store {
    nonisolated let name: String
    private let fault: DeliveryError
    private(set) var deleted: [String] = []
    private(set) var refused: [String] = []

    init(_ name: String, _ fault: DeliveryError) { (self.name, self.fault) = (name, fault) }

    func put(
      _ object: ObjectName, _ bytes: [UInt8], contentType: String, progress: @escaping @Sendable (Double) -> Void
    ) async throws(DeliveryError) -> String { "" }

    func delete(_ object: ObjectName) async throws(DeliveryError) {
      if object.text.hasPrefix("bad") {
        refused.append(object.text)
        throw fault
      }
      deleted.append(object.text)
    }

    func check() -> String { "" }
  }

  private func abandon(_ objects: [String], in store: String) async throws {
    try await ledger.write { database in
      for object in objects {
        try database.run(
          "INSERT INTO uploads (message, store, object, state, started_at) VALUES (?, ?, ?, 'abandoned', 1)", object,
          store, object)
      }
    }
  }

  /// Runs a sweeper until `count` uploads are left, none of them claimed.
  private func sweep(_ stores: [PickyStore], until count: Int) async throws {
    let spool = try Spool(creating: scratch.path("spool"))
    let sweeper = Sweeper(core: DeliveryCore(ledger, in: spool, stores: stores))
    let task = Task { try await sweeper.run() }
    while try await ledger.read({ database in
      try database.value("SELECT count(*) || ' ' || count(*) FILTER (WHERE state = 'deleting') FROM uploads") as String?
    }) != "\(count) 0" { await Task.yield() }
    task.cancel()
    try await task.value
  }

  @Test("Objects that a store refuses to delete keep no other object waiting, and are tried once")
  func refused() async throws {
    let store = PickyStore("store", DeliveryError(.configError, "403: it does not allow it"))
    let bad = (0..<100).map { "bad\($0)" }
    let good = (0..<100).map { "good\($0)" }
    try await abandon(bad + good, in: "store")
    try await sweep([store], until: bad.count)
    #expect(await store.deleted == good)
    #expect(await store.refused == bad)
  }

  @Test("A store that cannot be reached is asked once, and another store is asked for all of its objects")
  func unreachable() async throws {
    let away = PickyStore("away", DeliveryError(.unreachable, "there is no route"))
    let near = PickyStore("near", DeliveryError(.configError, "403"))
    try await abandon((0..<100).map { "bad\($0)" }, in: "away")
    try await abandon(["good"], in: "near")
    try await sweep([away, near], until: 100)
    #expect(await away.refused == ["bad0"])
    #expect(await near.deleted == ["good"])
  }

  @Test("A pause that ends during a sweep is not forgotten for a longer one")
  func endedPause() {
    let begin = ContinuousClock.now - .seconds(10)
    var pauses = SweepPauses()
    pauses.pause(row: 1, at: begin)
    pauses.pause(row: 1, at: begin)
    pauses.pause(store: "store", at: begin - .milliseconds(59_900))
    pauses.beginSweep(at: begin)
    #expect(pauses.stores == ["store"])
    #expect(pauses.next == begin + .milliseconds(100))
    pauses.beginSweep(at: begin + .milliseconds(200))
    #expect(pauses.stores.isEmpty)
    #expect(pauses.next == begin + .seconds(120))
  }

  @Test("A network forgets messages that are over, and none that waits")
  func ended() async throws {
    try await accept(NewRequest("sent", inode: 1), NewRequest("waits", inode: 2))
    let messages = try await head()
    _ = try await send(messages[0])
    let network = ScriptedNetwork()
    await network.store([messages[0].message, messages[1].message, MessageID(unchecked: "purged")])
    try await network.forgetEnded { try await ledger.waiting(among: $0) }
    #expect(await network.stored == [messages[1].message])
  }
}
