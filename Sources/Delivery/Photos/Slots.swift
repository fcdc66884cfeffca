import Synchronization

/// Places per store that tasks take and return. Sent photos come before drafts, then the owner with the fewest places,
/// then first come, first served. Drafts take at most half of a store's places, so that sent photos do not wait for a
/// slow store. So does each owner, rounded up, so that one with stalled photos leaves places for others. A stalled
/// store takes no place of another.
final class Slots: Sendable {
  fileprivate struct User {
    let store: String
    let owner: Int64?
    var isAhead: Bool
  }

  fileprivate struct Store {
    /// Negative if more are taken than allowed.
    var free: Int
    /// Taken for drafts.
    var ahead = 0
    var held: [Int64: Int] = [:]
    var waiting: [(key: Int, waiter: CheckedContinuation<Bool, Never>)] = []
  }

  fileprivate struct State {
    /// Places per store.
    var count: Int
    var lastKey = 0
    var users: [Int: User] = [:]
    var stores: [String: Store] = [:]
    var holding: Set<Int> = []
    /// Cancelled tasks, which take no place any more.
    var cancelled: Set<Int> = []
  }

  private let state: Mutex<State>

  init(_ count: Int) { state = Mutex(State(count: max(1, count))) }

  /// Sets `count` places per store. Excess places end when they are returned.
  func resize(to count: Int) {
    let resumed = state.withLock { state in
      let count = max(1, count)
      let more = count - state.count
      state.count = count
      var resumed = [(CheckedContinuation<Bool, Never>, Bool)]()
      for name in state.stores.keys {
        state.stores[name]?.free += more
        resumed += state.dispense(of: name)
      }
      return resumed
    }
    for (waiter, hasPlace) in resumed { waiter.resume(returning: hasPlace) }
  }

  /// Makes the key for a later place; end it with `retire`.
  ///
  /// - Parameter owner: whose share it counts for; nil has no limit.
  func announce(ahead: Bool, store: String = "", owner: Int64? = nil) -> Int {
    state.withLock { state in
      state.lastKey += 1
      state.users[state.lastKey] = User(store: store, owner: owner, isAhead: ahead)
      return state.lastKey
    }
  }

  /// Turns a draft's key into a sent one.
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

  /// Runs `body` once a place is free, and returns the place. Cancelling ends the wait.
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
      if let owner = user.owner, let held = state.stores[user.store]?.held[owner] {
        state.stores[user.store]?.held[owner] = held > 1 ? held - 1 : nil
      }
    }
  }

  /// Makes a change and assigns free places of the store. Retired keys are ignored.
  private func change(_ key: Int, _ body: (inout State, User) -> Void) {
    let resumed = state.withLock { state in
      guard let user = state.users[key] else { return [(CheckedContinuation<Bool, Never>, Bool)]() }
      body(&state, user)
      return state.dispense(of: user.store)
    }
    for (waiter, hasPlace) in resumed { waiter.resume(returning: hasPlace) }
  }
}

extension Slots.State {
  fileprivate mutating func dispense(of name: String) -> [(CheckedContinuation<Bool, Never>, Bool)] {
    guard var store = stores[name], !store.waiting.isEmpty else { return [] }
    var resumed = [(CheckedContinuation<Bool, Never>, Bool)]()
    if !cancelled.isEmpty {
      resumed = store.waiting.filter { cancelled.contains($0.key) }.map { ($0.waiter, false) }
      store.waiting.removeAll { cancelled.contains($0.key) }
    }
    while store.free > 0, let next = next(in: store) {
      let (key, waiter) = store.waiting.remove(at: next)
      store.free -= 1
      holding.insert(key)
      if users[key]?.isAhead == true { store.ahead += 1 }
      if let owner = users[key]?.owner { store.held[owner, default: 0] += 1 }
      resumed.append((waiter, true))
    }
    stores[name] = store
    return resumed
  }

  /// The next waiting key that may have a place, if any.
  private func next(in store: Slots.Store) -> Int? {
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
