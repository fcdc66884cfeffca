import Synchronization

/// A number of places for each store that tasks take and give back: what was sent before what is only uploaded ahead,
/// then whose owner has the fewest, then first come, first served.
///
/// Photos that are ahead take at most half of a store's places, so that what was sent does not wait for a store that is
/// slow with them; and so does one owner, rounded up, so that one whose photos hang leaves the others theirs. A store
/// that hangs holds no place of another.
final class Slots: Sendable {
  fileprivate struct User {
    let store: String
    let owner: Int64?
    var isAhead: Bool
  }

  fileprivate struct Store {
    /// Below zero while more are taken than there shall be.
    var free: Int
    /// Of the places that are taken.
    var ahead = 0
    var held: [Int64: Int] = [:]
    var waiting: [(key: Int, waiter: CheckedContinuation<Bool, Never>)] = []
  }

  fileprivate struct State {
    /// Places for each store.
    var count: Int
    var lastKey = 0
    var users: [Int: User] = [:]
    var stores: [String: Store] = [:]
    var holding: Set<Int> = []
    /// Those whose tasks were cancelled; they take no place any more.
    var cancelled: Set<Int> = []
  }

  private let state: Mutex<State>

  init(_ count: Int) { state = Mutex(State(count: max(1, count))) }

  /// Makes it `count` places for each store. Those that are taken and too many go when they are given back.
  func resize(to count: Int) {
    let woken = state.withLock { state in
      let count = max(1, count)
      let more = count - state.count
      state.count = count
      var woken = [(CheckedContinuation<Bool, Never>, Bool)]()
      for name in state.stores.keys {
        state.stores[name]?.free += more
        woken += state.dispense(of: name, count: count)
      }
      return woken
    }
    for (waiter, hasPlace) in woken { waiter.resume(returning: hasPlace) }
  }

  /// The key of one that will want a place; `retire` is its end.
  ///
  /// - Parameter owner: whose share it goes on; nil is nobody's, which has no limit.
  func announce(ahead: Bool, store: String = "", owner: Int64? = nil) -> Int {
    state.withLock { state in
      state.lastKey += 1
      state.users[state.lastKey] = User(store: store, owner: owner, isAhead: ahead)
      return state.lastKey
    }
  }

  /// One that was ahead was sent meanwhile: it goes with those that were.
  func hurry(_ key: Int) {
    change(key) { state, user in
      guard user.isAhead else { return }
      state.users[key]?.isAhead = false
      if state.holding.contains(key) { state.stores[user.store]?.ahead -= 1 }
    }
  }

  func retire(_ key: Int) {
    change(key) { state, _ in
      state.users[key] = nil
      state.cancelled.remove(key)
    }
  }

  /// Runs `body` once a place is free, and gives the place back. One that is cancelled does not wait any longer.
  func with<Result: Sendable>(_ key: Int, _ body: @Sendable () async throws -> Result) async throws -> Result {
    guard await take(key) else { throw CancellationError() }
    defer { giveBack(key) }
    try Task.checkCancellation()
    return try await body()
  }

  private func take(_ key: Int) async -> Bool {
    await withTaskCancellationHandler {
      await withCheckedContinuation { waiter in
        change(key) { state, user in
          state.stores[user.store, default: Store(free: state.count)].waiting.append((key, waiter))
        }
      }
    } onCancel: {
      change(key) { state, _ in state.cancelled.insert(key) }
    }
  }

  private func giveBack(_ key: Int) {
    change(key) { state, user in
      state.holding.remove(key)
      state.stores[user.store]?.free += 1
      if user.isAhead { state.stores[user.store]?.ahead -= 1 }
      if let owner = user.owner { state.stores[user.store]?.release(owner) }
    }
  }

  /// Makes a change and gives free places of the store to those who may have them now. Nothing changes for a key that
  /// was retired.
  private func change(_ key: Int, _ body: (inout State, User) -> Void) {
    let woken = state.withLock { state in
      guard let user = state.users[key] else { return [(CheckedContinuation<Bool, Never>, Bool)]() }
      body(&state, user)
      return state.dispense(of: user.store, count: state.count)
    }
    for (waiter, hasPlace) in woken { waiter.resume(returning: hasPlace) }
  }
}

extension Slots.Store {
  fileprivate mutating func release(_ owner: Int64) {
    let left = held[owner, default: 0] - 1
    held[owner] = left > 0 ? left : nil
  }
}

extension Slots.State {
  fileprivate mutating func dispense(of name: String, count: Int) -> [(CheckedContinuation<Bool, Never>, Bool)] {
    guard var store = stores[name], !store.waiting.isEmpty else { return [] }
    var woken = [(CheckedContinuation<Bool, Never>, Bool)]()
    if !cancelled.isEmpty {
      woken = store.waiting.filter { cancelled.contains($0.key) }.map { ($0.waiter, false) }
      store.waiting.removeAll { cancelled.contains($0.key) }
    }
    while store.free > 0, let next = next(in: store, count: count) {
      let (key, waiter) = store.waiting.remove(at: next)
      store.free -= 1
      holding.insert(key)
      if users[key]?.isAhead == true { store.ahead += 1 }
      if let owner = users[key]?.owner { store.held[owner, default: 0] += 1 }
      woken.append((waiter, true))
    }
    stores[name] = store
    return woken
  }

  /// Who is served next of those that wait; nil when none of them may have a place.
  private func next(in store: Slots.Store, count: Int) -> Int? {
    var best: (index: Int, isAhead: Bool, held: Int)?
    for (index, waiter) in store.waiting.enumerated() {
      guard let user = users[waiter.key] else { continue }
      let held = user.owner.map { store.held[$0, default: 0] } ?? 0
      guard held < (count + 1) / 2, !user.isAhead || store.ahead < max(1, count / 2) else { continue }
      if let best, (best.isAhead ? 1 : 0, best.held) <= (user.isAhead ? 1 : 0, held) { continue }
      best = (index, user.isAhead, held)
      if !user.isAhead && held == 0 { break }
    }
    return best?.index
  }
}
