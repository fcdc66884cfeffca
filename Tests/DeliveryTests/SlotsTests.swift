import Testing

@testable import Delivery

@Suite struct SlotsTests {
  /// Records the order of taken places, and holds each until the test returns it.
  private actor Places {
    private(set) var taken: [String] = []
    /// Those that are inside now.
    var inside: [String] { leaving.keys.sorted() }
    private var leaving: [String: CheckedContinuation<Void, Never>] = [:]
    private var waiters: [(Int, CheckedContinuation<Void, Never>)] = []

    func stay(_ name: String) async {
      taken.append(name)
      for (_, waiter) in waiters.filter({ $0.0 <= taken.count }) { waiter.resume() }
      waiters.removeAll { $0.0 <= taken.count }
      await withCheckedContinuation { leaving[name] = $0 }
    }

    func leave(_ name: String) { leaving.removeValue(forKey: name)?.resume() }

    func wait(for count: Int) async {
      if taken.count < count { await withCheckedContinuation { waiters.append((count, $0)) } }
    }
  }

  private let places = Places()

  private func task(_ name: String, _ key: Int, in slots: Slots) -> Task<Void, any Error> {
    Task {
      defer { slots.retire(key) }
      try await slots.with(key) { await places.stay(name) }
    }
  }

  @Test("Uploads ahead of Send take at most half of the places, and sent photos take the others at once")
  func halves() async throws {
    let slots = Slots(4)
    let ahead = (0..<5).map { task("ahead \($0)", slots.announce(ahead: true), in: slots) }
    await places.wait(for: 2)
    let sent = (0..<2).map { task("sent \($0)", slots.announce(ahead: false), in: slots) }
    await places.wait(for: 4)
    #expect(await places.taken.suffix(2).allSatisfy { $0.hasPrefix("sent") })
    for number in 0..<2 { await places.leave("sent \(number)") }
    for task in sent { try await task.value }
    var left = Set<String>()
    for count in 5...7 {
      // No draft takes a place that a sent photo has returned.
      #expect(await places.taken.count == count - 1)
      let name = await places.taken.first { $0.hasPrefix("ahead") && !left.contains($0) }
      await places.leave(try #require(name))
      left.insert(try #require(name))
      await places.wait(for: count)
    }
    for name in await places.taken { await places.leave(name) }
    for task in ahead { try await task.value }
  }

  @Test("A photo that is sent while it waits behind drafts gets a place at once")
  func hurried() async throws {
    let slots = Slots(2)
    let first = task("first", slots.announce(ahead: true), in: slots)
    await places.wait(for: 1)
    let key = slots.announce(ahead: true)
    let second = task("second", key, in: slots)
    slots.hurry(key)
    await places.wait(for: 2)
    #expect(await places.taken == ["first", "second"])
    // It was sent, so that its half is free.
    await places.leave("second")
    try await second.value
    await places.leave("first")
    try await first.value
  }

  @Test(
    "A free place goes to whoever has the fewest, nobody ever has more than half of them, and each store has its own")
  func owners() async throws {
    let slots = Slots(4)
    func start(_ name: String, _ store: String, _ owner: Int64) -> Task<Void, any Error> {
      task(name, slots.announce(ahead: false, store: store, owner: owner), in: slots)
    }
    var tasks = (1...6).map { start("one \($0)", "here", 1) }
    await places.wait(for: 2)
    tasks += [start("two", "here", 2), start("three", "here", 3)]
    // Four places: two for the first owner, and one each for the later ones.
    await places.wait(for: 4)
    #expect(await places.inside == ["one 1", "one 2", "three", "two"])
    tasks.append(start("elsewhere", "elsewhere", 4))
    await places.wait(for: 5)
    for count in 6...9 {
      let mine = await places.inside.filter { $0.hasPrefix("one") }
      #expect(mine.count == 2)
      await places.leave(mine[0])
      await places.wait(for: count)
    }
    for name in await places.taken { await places.leave(name) }
    for task in tasks { try await task.value }
  }

  @Test("A cancelled upload waits for no place")
  func cancelled() async throws {
    let slots = Slots(1)
    let first = task("first", slots.announce(ahead: true), in: slots)
    await places.wait(for: 1)
    let second = task("second", slots.announce(ahead: true), in: slots)
    second.cancel()
    await #expect(throws: CancellationError.self) { try await second.value }
    await places.leave("first")
    try await first.value
    let third = task("third", slots.announce(ahead: true), in: slots)
    await places.wait(for: 2)
    await places.leave("third")
    try await third.value
  }
}
