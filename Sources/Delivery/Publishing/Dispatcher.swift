import Ledgers
import Messages
import ServiceLifecycle
import Signalling

/// Gives each due conversation a worker, longest due first, up to the configured number per network and store.
/// Conversations of a slow destination take no place of others. A conversation without work has no task.
actor Dispatcher: Service, HasCore {
  nonisolated let worker: ConversationWorker
  private static let work = "the ledger failed; trying again"
  private var working: [Int64: (task: Task<Void, Never>, lane: String)] = [:]
  /// Conversations whose workers ended during the current read of the ledger. The answer may be older than what they stored,
  /// for example a retry time, so they are left to the next look.
  private var endedDuringRead: Set<Int64> = []
  /// The number of taken places by lane.
  private var taken: [String: Int] = [:]
  /// Earliest time for another complete look at what is due.
  private var nextLongLook = ContinuousClock.now
  /// The time of the last look, by the wall clock and by a monotonic one.
  private var lastLook = (wall: Timestamp.now(), running: ContinuousClock.now)
  /// Seconds that both may differ through small corrections of the clock.
  private static let drift = 1.0

  nonisolated var core: DeliveryCore { worker.core }
  private var bell: Bell { signals.dispatcher }
  private var isStopping: OneWayFlag { worker.isStopping }

  init(_ worker: ConversationWorker) { self.worker = worker }

  func run() async throws {
    bell.ring()
    await bell.serve(stopping: { [isStopping] in isStopping.set() }) {
      try await serve()
      troubles.end(Self.work)
    } failed: { error in
      troubles.tell(Self.work, error)
      return 1
    }
    isStopping.set()
    await worker.photos.stop()
    // The group is cancelled at the end of the stop time, which cuts off everything that waits for an answer.
    let tasks = working.values.map(\.task)
    await withTaskCancellationHandler {
      for task in tasks { await task.value }
    } onCancel: {
      for task in tasks { task.cancel() }
    }
  }

  /// Stops the worker of a conversation and waits for it. Its messages are cancelled, so nothing begins again.
  func stop(_ conversation: Int64) async {
    guard let task = working[conversation]?.task else { return }
    task.cancel()
    await task.value
  }

  private func serve() async throws {
    let now = Timestamp.now()
    let settings = plan.delivery
    let longestWait = max(settings.backoff.longest, settings.lifetime, .days(1)).seconds
    if wasSetBack() { try await ledger.forgetFuture(at: now) }
    try await startDue(at: now)
    if let next = try await ledger.nextDue(after: now) {
      let wait = next.seconds(since: now)
      // No retry is that far away: the clock was set back.
      if wait > longestWait { try await ledger.clampDue(to: now) }
      bell.ring(in: min(wait, longestWait))
    }
  }

  private func startDue(at now: Timestamp) async throws {
    let (places, destinations) = (plan.delivery.conversations, plan.destinations)
    let isFull = { (lane: String) in self.taken[lane, default: 0] >= places }
    guard !destinations.lanes.allSatisfy(isFull) else { return }
    // Conversations with a worker are due as well, and come first.
    let limit = places + working.count
    endedDuringRead = []
    guard destinations.lanes.count > 1 else {
      for conversation in try await ledger.dueConversations(at: now, limit: limit)
      where isIdle(conversation) && !isFull(destinations.standard.lane) {
        start(conversation, on: destinations.standard.lane)
      }
      return
    }
    var page = try await ledger.dueConversations(at: now, behind: nil, limit: limit)
    let begin = ContinuousClock.now
    while true {
      for conversation in page where isIdle(conversation.row) {
        let lane = destinations.route(for: conversation.conversation).lane
        if !isFull(lane) { start(conversation.row, on: lane) }
      }
      guard page.count == limit, !destinations.lanes.allSatisfy(isFull) else { break }
      // Others with a free place may follow those without one. Looking for them takes at most a tenth of the time.
      guard nextLongLook <= begin else {
        bell.ring(in: (nextLongLook - .now) / .seconds(1))
        return
      }
      endedDuringRead = []
      page = try await ledger.dueConversations(at: now, behind: page.last, limit: limit)
    }
    nextLongLook = .now + (.now - begin) * 10
  }

  /// Whether the conversation had no worker for the whole of the last read.
  private func isIdle(_ conversation: Int64) -> Bool {
    working[conversation] == nil && !endedDuringRead.contains(conversation)
  }

  /// Whether the clock was set back since the last look, so that due times may be in the future.
  private func wasSetBack() -> Bool {
    // In this order, a paused thread only makes the wall clock look later.
    let passed = (ContinuousClock.now - lastLook.running) / .seconds(1)
    let wall = Timestamp.now()
    defer { lastLook = (wall, .now) }
    return wall.seconds(since: lastLook.wall) < passed - Self.drift
  }

  private func start(_ conversation: Int64, on lane: String) {
    taken[lane, default: 0] += 1
    let task = Task {
      await worker.run(conversation)
      self.ended(conversation)
    }
    working[conversation] = (task, lane)
  }

  private func ended(_ conversation: Int64) {
    if let lane = working.removeValue(forKey: conversation)?.lane { taken[lane]? -= 1 }
    endedDuringRead.insert(conversation)
    bell.ring()
  }
}
