import Blocking
import Spooling

/// Looks for news four times a second, as long as somebody listens, and more often after a change by this page.
actor LiveWatch {
  private let probe: LiveProbe
  private let pool = BlockingPool(label: "web-live", threads: 1)
  private var listeners: [Int: AsyncStream<LiveNews>.Continuation] = [:]
  private var last = LiveNews()
  private var looking: Task<Void, Never>?
  private var next = 0
  private var hasNewListener = false
  /// Looks that follow soon.
  private var hurried = 0
  private var rest: Task<Void, Never>?

  /// Listeners at once.
  private static let limit = 64
  private static let pause = Duration.milliseconds(250)
  /// The daemon takes a moment to carry out what somebody wants here.
  private static let (mostHurried, hurriedPause) = (8, Duration.milliseconds(50))

  init(_ spool: Spool) { probe = LiveProbe(spool) }

  /// The news from now on, the present ones first; nil if too many listen.
  func listen() -> AsyncStream<LiveNews>? {
    guard listeners.count < Self.limit else { return nil }
    let (stream, continuation) = AsyncStream.makeStream(of: LiveNews.self, bufferingPolicy: .bufferingNewest(1))
    let number = next
    next += 1
    hasNewListener = true
    listeners[number] = continuation
    continuation.onTermination = { _ in Task { await self.leave(number) } }
    if looking == nil { looking = Task { await look() } } else { continuation.yield(last) }
    return stream
  }

  /// Looks at once, and again soon: this page has changed something.
  func hurry() {
    hurried = Self.mostHurried
    rest?.cancel()
  }

  private func leave(_ number: Int) {
    listeners[number] = nil
    guard listeners.isEmpty else { return }
    looking?.cancel()
    looking = nil
  }

  private func look() async {
    var isFirst = true
    while !Task.isCancelled {
      let hasNew = hasNewListener
      hasNewListener = false
      guard let news = try? await pool.run({ [probe] in probe.look(isFirst: hasNew) }), !Task.isCancelled else {
        return
      }
      if news != last || isFirst {
        last = news
        for listener in listeners.values { listener.yield(news) }
      }
      isFirst = false
      let pause = hurried > 0 ? Self.hurriedPause : Self.pause
      hurried = max(0, hurried - 1)
      let rest = Task { _ = try? await Task.sleep(for: pause) }
      self.rest = rest
      await rest.value
    }
  }
}
