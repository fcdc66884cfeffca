/// Wakes one sleeper. Rings that come while it works are remembered as one.
struct Bell: Sendable {
  private let stream: AsyncStream<Void>
  private let continuation: AsyncStream<Void>.Continuation

  init() {
    (stream, continuation) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
  }

  /// Wakes the sleeper, now or as soon as it sleeps.
  func ring() { continuation.yield() }

  /// Lets the sleeper wake up for good.
  func retire() { continuation.finish() }

  /// The rings, one by one, until the bell is retired or the task cancelled.
  var rings: AsyncStream<Void> { stream }
}

/// Rings a bell at a set time; setting it again moves the time.
actor Alarm {
  private let bell: Bell
  private var sleeper: Task<Void, Never>?
  private var time: ContinuousClock.Instant?

  init(_ bell: Bell) { self.bell = bell }

  /// Rings in `seconds`, or earlier when an earlier time is set already.
  func ring(in seconds: Double) {
    let wanted = ContinuousClock.now + .seconds(max(0, seconds))
    if let time, time <= wanted, time > .now { return }
    time = wanted
    sleeper?.cancel()
    sleeper = Task { [bell] in
      try? await Task.sleep(until: wanted, clock: .continuous)
      if !Task.isCancelled { bell.ring() }
    }
  }

  /// Sets no time any more.
  func stop() { sleeper?.cancel() }
}
