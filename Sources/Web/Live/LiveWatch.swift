import Dispatch
import Spooling
import Synchronization

/// Looks for news four times a second, as long as somebody listens, and more often after a change by this page.
///
/// One thread looks and rests by turns, so that a look without news wakes no other thread.
final class LiveWatch: Sendable {
  private struct State {
    var listeners: [Int: AsyncStream<LiveNews>.Continuation] = [:]
    var next = 0
    /// The news of the last look; nil before the first one.
    var last: LiveNews?
    var isLooking = false
    var hasNewListener = false
    /// Looks that follow soon.
    var hurried = 0
    var isRung = false
  }

  private let probe: LiveProbe
  private let state = Mutex(State())
  private let queue = DispatchQueue(label: "web-live")
  /// Ends the rest of the thread.
  private let bell = DispatchSemaphore(value: 0)

  /// Listeners at once.
  private static let limit = 64
  private static let pause = DispatchTimeInterval.milliseconds(250)
  /// The daemon takes a moment to carry out what somebody wants here.
  private static let (mostHurried, hurriedPause) = (8, DispatchTimeInterval.milliseconds(50))

  init(_ spool: Spool) { probe = LiveProbe(spool) }

  /// The news from now on, the present ones first; nil if too many listen.
  func listen() -> AsyncStream<LiveNews>? {
    let (stream, continuation) = AsyncStream.makeStream(of: LiveNews.self, bufferingPolicy: .bufferingNewest(1))
    let entered = state.withLock { state -> (number: Int, isLooking: Bool)? in
      guard state.listeners.count < Self.limit else { return nil }
      defer {
        state.next += 1
        state.isLooking = true
      }
      state.listeners[state.next] = continuation
      state.hasNewListener = true
      // News is told under the lock, so that nobody hears an older one last.
      if let last = state.last { continuation.yield(last) }
      return (state.next, state.isLooking)
    }
    guard let (number, isLooking) = entered else { return nil }
    continuation.onTermination = { _ in self.leave(number) }
    if !isLooking { queue.async { self.look() } }
    return stream
  }

  /// Looks at once, and again soon: this page has changed something.
  func hurry() {
    let rings = state.withLock { state in
      guard state.isLooking else { return false }
      state.hurried = Self.mostHurried
      defer { state.isRung = true }
      return !state.isRung
    }
    if rings { bell.signal() }
  }

  private func leave(_ number: Int) { state.withLock { _ = $0.listeners.removeValue(forKey: number) } }

  /// Looks until nobody listens.
  private func look() {
    while let hasNew = begin() {
      let news = probe.look(isFirst: hasNew)
      let pause = state.withLock { state in
        if news != state.last {
          state.last = news
          for listener in state.listeners.values { listener.yield(news) }
        }
        defer { state.hurried = max(0, state.hurried - 1) }
        return state.hurried > 0 ? Self.hurriedPause : Self.pause
      }
      if bell.wait(timeout: .now() + pause) == .success { state.withLock { $0.isRung = false } }
    }
  }

  /// Whether somebody listens since the last look; nil if nobody does, and this was the last one.
  private func begin() -> Bool? {
    state.withLock { state in
      guard !state.listeners.isEmpty else {
        state.isLooking = false
        state.last = nil
        return nil
      }
      defer { state.hasNewListener = false }
      return state.hasNewListener
    }
  }
}
