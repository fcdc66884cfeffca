import Ledgers
import Logging
import Messages
import ServiceLifecycle
import Signalling
import Synchronization

/// Gives every conversation that is due a worker, longest due first, for each network and store as many at a time as
/// configured: those that wait for a slow one take no place of another. A conversation with nothing to do has nothing
/// running.
actor Dispatcher: Service {
  private let worker: ConversationWorker
  private static let work = "the ledger failed; trying again"
  private var askers: [CheckedContinuation<Void, Never>] = []
  private var working: [Int64: (task: Task<Void, Never>, lane: String)] = [:]
  /// By lane: how many of them there are.
  private var taken: [String: Int] = [:]
  /// When all that is due may be looked through again.
  private var nextLongLook = ContinuousClock.now
  /// When it looked last, by the wall's clock and by one that nobody sets.
  private var lastLook = (wall: Timestamp.now(), running: ContinuousClock.now)
  /// Seconds that the two may differ because the clock is kept on time.
  private static let drift = 1.0

  private var ledger: Ledger { worker.ledger }
  private var plan: PlanInForce { worker.plan }
  private var bell: Bell { worker.signals.dispatcher }
  private var isStopping: StopFlag { worker.isStopping }

  /// - Parameter worker: works on whatever conversation it is given.
  init(_ worker: ConversationWorker) { self.worker = worker }

  /// Returns as soon as the loop below has looked at what is due.
  func answers() async {
    if isStopping.isSet { return }
    await withCheckedContinuation { asker in
      askers.append(asker)
      bell.ring()
    }
  }

  func run() async throws {
    bell.ring()
    await bell.serve(stopping: { [isStopping] in isStopping.set() }) {
      defer { answerAskers() }
      try await serve()
      worker.troubles.end(Self.work)
    } failed: { error in
      worker.troubles.tell(Self.work, error)
      return 1
    }
    isStopping.set()
    answerAskers()
    await worker.photos.stop()
    // The group is cancelled once the time to finish what is in hand is over; that cuts off whoever waits for an answer.
    let tasks = working.values.map(\.task)
    await withTaskCancellationHandler {
      for task in tasks { await task.value }
    } onCancel: {
      for task in tasks { task.cancel() }
    }
  }

  /// Cuts off what is being done for a conversation, and returns once nothing is. Its messages are cancelled, so that
  /// nothing begins anew.
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
    // Those that have a worker are due as well, and come first.
    let limit = places + working.count
    guard destinations.lanes.count > 1 else {
      for conversation in try await ledger.dueConversations(at: now, limit: limit)
      where working[conversation] == nil && !isFull(destinations.standard.lane) {
        start(conversation, on: destinations.standard.lane)
      }
      return
    }
    var page = try await ledger.dueConversations(at: now, behind: nil, limit: limit)
    let begin = ContinuousClock.now
    while true {
      for conversation in page where working[conversation.row] == nil {
        let lane = destinations.route(for: conversation.name).lane
        if !isFull(lane) { start(conversation.row, on: lane) }
      }
      guard page.count == limit, !destinations.lanes.allSatisfy(isFull) else { break }
      // Behind those for whom there is no place may be some for whom there is one. To look for them takes a tenth of the
      // time at most, however many there are.
      guard nextLongLook <= begin else {
        bell.ring(in: (nextLongLook - .now) / .seconds(1))
        return
      }
      page = try await ledger.dueConversations(at: now, behind: page.last, limit: limit)
    }
    nextLongLook = .now + (.now - begin) * 10
  }

  /// Whether the clock was set back since the last look, so that times of then lie in the future.
  private func wasSetBack() -> Bool {
    // In this order: a thread that is paused between two readings only makes the wall's clock look later.
    let passed = (ContinuousClock.now - lastLook.running) / .seconds(1)
    let wall = Timestamp.now()
    defer { lastLook = (wall, .now) }
    return wall.seconds(since: lastLook.wall) < passed - Self.drift
  }

  private func answerAskers() {
    let due = askers
    askers = []
    for asker in due { asker.resume() }
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
    bell.ring()
  }
}
