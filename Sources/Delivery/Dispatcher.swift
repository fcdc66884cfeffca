import Ledgers
import Logging
import Messages
import ServiceLifecycle
import Synchronization

/// Gives every conversation that is due a worker, as many at a time as configured, longest due first. A conversation
/// with nothing to do has nothing running.
actor Dispatcher: Service {
  private let ledger: Ledger
  private let photos: PhotoLine
  private let troubles: Troubles
  private let log: Logger
  private let plan: PlanInForce
  private let filing: Filing
  private let makeWorker: @Sendable (Int64, @escaping @Sendable () -> Bool) -> ConversationWorker
  private let bell: Bell
  private let isStopping = StopFlag()
  private static let work = "the ledger failed; trying again"
  private var askers: [CheckedContinuation<Void, Never>] = []
  private var working: [Int64: Task<Void, Never>] = [:]
  /// When it looked last, by the wall's clock and by one that nobody sets.
  private var lastLook = (wall: Timestamp.now(), running: ContinuousClock.now)
  /// Seconds that the two may differ because the clock is kept on time.
  private static let drift = 1.0

  init(
    ledger: Ledger, photos: PhotoLine, filing: Filing, plan: PlanInForce, bell: Bell, troubles: Troubles, log: Logger,
    makeWorker: @escaping @Sendable (Int64, @escaping @Sendable () -> Bool) -> ConversationWorker
  ) {
    self.ledger = ledger
    self.photos = photos
    self.filing = filing
    self.bell = bell
    self.troubles = troubles
    self.log = log
    self.plan = plan
    self.makeWorker = makeWorker
  }

  /// Says that a conversation may have become due.
  nonisolated func wake() { bell.ring() }

  /// Returns as soon as the loop below has looked at what is due.
  func answers() async {
    if isStopping.isSet { return }
    await withCheckedContinuation { asker in
      askers.append(asker)
      bell.ring()
    }
  }

  func run() async throws {
    let alarm = Alarm(bell)
    bell.ring()
    await withGracefulShutdownHandler {
      for await _ in bell.rings {
        if isStopping.isSet { break }
        do {
          try await serve(alarm)
          troubles.end(Self.work)
        } catch {
          troubles.tell(Self.work, error)
          await alarm.ring(in: 1)
        }
        answerAskers()
      }
    } onGracefulShutdown: {
      self.isStopping.set()
      self.bell.retire()
    }
    isStopping.set()
    answerAskers()
    await alarm.stop()
    await photos.stop()
    for task in working.values { await task.value }
    filing.follows(publishing: false)
  }

  /// Cuts off what is being done for a conversation, and returns once nothing is. Its messages are cancelled, so that
  /// nothing begins anew.
  func stop(_ conversation: Int64) async {
    guard let task = working[conversation] else { return }
    task.cancel()
    await task.value
  }

  private func serve(_ alarm: Alarm) async throws {
    let now = Timestamp.now()
    let options = plan.options
    let limit = options.conversations
    let longestWait = max(options.retry.longest, options.lifetime, 86_400)
    if wasSetBack(at: now) { try await ledger.forgetFuture(at: now) }
    if working.count < limit {
      // Those that have a worker are due as well, and come first.
      for conversation in try await ledger.dueConversations(at: now, limit: limit + working.count)
      where working[conversation] == nil && working.count < limit {
        start(conversation)
      }
    }
    filing.follows(publishing: !working.isEmpty)
    if let next = try await ledger.nextDue(after: now) {
      let wait = next.seconds(since: now)
      // No retry is that far away: the clock was set back.
      if wait > longestWait { try await ledger.clampDue(to: now) }
      await alarm.ring(in: min(wait, longestWait))
    }
  }

  /// Whether the clock was set back since the last look, so that times of then lie in the future.
  private func wasSetBack(at now: Timestamp) -> Bool {
    let running = ContinuousClock.now
    defer { lastLook = (now, running) }
    let passed = (running - lastLook.running) / .seconds(1)
    return now.seconds(since: lastLook.wall) < passed - Self.drift
  }

  private func answerAskers() {
    let due = askers
    askers = []
    for asker in due { asker.resume() }
  }

  private func start(_ conversation: Int64) {
    let worker = makeWorker(conversation) { [isStopping] in isStopping.isSet }
    working[conversation] = Task {
      await worker.run()
      self.ended(conversation)
    }
  }

  private func ended(_ conversation: Int64) {
    working[conversation] = nil
    bell.ring()
  }
}

/// Set once, seen by all.
final class StopFlag: Sendable {
  private let flag = Atomic<Bool>(false)
  var isSet: Bool { flag.load(ordering: .acquiring) }
  func set() { flag.store(true, ordering: .releasing) }
}
