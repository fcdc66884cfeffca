import Synchronization

/// A number of places that tasks take and give back: first come, first served, and what was sent before what is only
/// uploaded ahead. Photos that are ahead take at most half of the places, so that what was sent does not wait for a
/// store that is slow with them.
final class Slots: Sendable {
  fileprivate struct State {
    var free: Int
    /// Of the places that are taken.
    var ahead = 0
    var lastKey = 0
    /// By key: whether it is ahead.
    var isAhead: [Int: Bool] = [:]
    var holding: Set<Int> = []
    /// Those whose tasks were cancelled; they take no place any more.
    var cancelled: Set<Int> = []
    var waiting: [(key: Int, waiter: CheckedContinuation<Bool, Never>)] = []
  }

  private let state: Mutex<State>
  private let mostAhead: Int

  init(_ count: Int) {
    state = Mutex(State(free: max(1, count)))
    mostAhead = max(1, count / 2)
  }

  /// The key of one that will want a place; `retire` is its end.
  func announce(ahead: Bool) -> Int {
    state.withLock { state in
      state.lastKey += 1
      state.isAhead[state.lastKey] = ahead
      return state.lastKey
    }
  }

  /// One that was ahead was sent meanwhile: it goes with those that were.
  func hurry(_ key: Int) {
    change { state in
      guard state.isAhead[key] == true else { return }
      state.isAhead[key] = false
      if state.holding.contains(key) { state.ahead -= 1 }
    }
  }

  func retire(_ key: Int) {
    change { state in
      state.isAhead[key] = nil
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
        change { state in state.waiting.append((key, waiter)) }
      }
    } onCancel: {
      change { state in state.cancelled.insert(key) }
    }
  }

  private func giveBack(_ key: Int) {
    change { state in
      state.free += 1
      state.holding.remove(key)
      if state.isAhead[key] == true { state.ahead -= 1 }
    }
  }

  /// Makes a change and gives free places to those who may have them now.
  private func change(_ body: (inout State) -> Void) {
    let woken = state.withLock { state in
      body(&state)
      return state.dispense(mostAhead: mostAhead)
    }
    for (waiter, hasPlace) in woken { waiter.resume(returning: hasPlace) }
  }
}

extension Slots.State {
  fileprivate mutating func dispense(mostAhead: Int) -> [(CheckedContinuation<Bool, Never>, Bool)] {
    guard !waiting.isEmpty else { return [] }
    var woken = [(CheckedContinuation<Bool, Never>, Bool)]()
    if !cancelled.isEmpty {
      woken = waiting.filter { cancelled.contains($0.key) }.map { ($0.waiter, false) }
      waiting.removeAll { cancelled.contains($0.key) }
    }
    while free > 0 {
      let next =
        waiting.firstIndex { isAhead[$0.key] != true } ?? (ahead < mostAhead ? waiting.indices.first : nil)
      guard let next else { break }
      let (key, waiter) = waiting.remove(at: next)
      free -= 1
      holding.insert(key)
      if isAhead[key] == true { ahead += 1 }
      woken.append((waiter, true))
    }
    return woken
  }
}
