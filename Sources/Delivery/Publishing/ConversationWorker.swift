import Ledgers
import Logging
import Messages
import Settings
import Signalling
import Spooling

/// Publishes the messages of one conversation in order, while the photos behind the first are prepared and uploaded. A
/// message begins after the outcome of the one before it is committed, except for texts in a batch.
struct ConversationWorker: Sendable, HasCore {
  let core: DeliveryCore
  let files: RequestFiles
  let photos: PhotoPipeline
  let circuits: Circuits
  /// Relays conversations to the cluster instead of publishing them, except those of profile photos.
  var relay: Relay?
  /// Asked by an owner in a cluster before it publishes and before it gives up.
  var gate: OwnerGate?
  /// Checked between two messages.
  let isStopping = OneWayFlag()

  var settings: Settings.Delivery { plan.delivery }

  /// Messages until other due conversations get a time slice.
  private static let turn = 64

  private static let work = "the ledger failed; conversations wait"

  private enum Outcome {
    /// With the batch that began in the last commit.
    case goOn([Begun])
    case wait
  }

  /// Works until nothing waits, the conversation has to wait, or its time slice is over.
  func run(_ conversation: Int64) async {
    do {
      var served = 0
      var pace = BatchSize()
      while served < Self.turn {
        let resets = await circuits.resets
        // More than the lookahead, because of batches of texts; photos are not seen later for that.
        let limit = min(settings.lookahead + max(settings.lookahead + 1, 2 * pace.length), Self.turn - served)
        let found = try await ledger.head(of: conversation, limit: limit)
        guard let message = found.first, !message.isHeld, !isStopping.isSet else { return troubles.end(Self.work) }
        if let relay, !message.conversation.isProfile { return try await self.relay(conversation, relay) }
        if message.isDuplicate {
          // If it is to be sent, it is read again.
          if try await ledger.decideDuplicate(message, at: .now()) { signals.filing.ring() }
          continue
        }
        // A duplicate is decided when it is the first.
        let ready = found.prefix { !$0.isDuplicate }
        var window = Window(messages: Array(ready), isWhole: found.count < limit && ready.count == found.count)
        for photo in ahead(of: window) where needsUpload(photo) && mayStart(photo, before: message) {
          await photos.start(photo)
        }
        var begun: [Begun] = []
        repeat {
          let waiting = window.messages.count
          guard case .goOn(let next) = try await send(begun, &window, &pace, since: resets) else { return }
          begun = next
          served += max(1, waiting - window.messages.count)
        } while !begun.isEmpty
      }
      try await ledger.sendToBack(conversation, at: .now())
      troubles.end(Self.work)
    } catch is CancellationError {
    } catch {
      troubles.tell(Self.work, error)
      // Without a ledger no retry time can be stored, so wait a little.
      try? await Task.sleep(for: .seconds(1))
    }
  }

  private func relay(_ conversation: Int64, _ relay: Relay) async throws {
    try await relay.run(
      conversation, isStopping: { isStopping.isSet }, expired: { hasExpired($0) ? expired($0) : nil })
    troubles.end(Self.work)
  }

  /// The first message, and those whose photos are prepared and uploaded meanwhile.
  private func ahead(of window: Window) -> [QueuedMessage] { Array(window.messages.prefix(settings.lookahead + 1)) }

  /// On an almost full disk the photos behind the first wait, so that they leave it room to end.
  private func mayStart(_ photo: QueuedMessage, before first: QueuedMessage) -> Bool {
    photo.row == first.row || (try? Reserve(files.spool).hasPlenty()) ?? false
  }

  /// False for a photo that may be published: it is looked up first, with its former upload.
  private func needsUpload(_ message: QueuedMessage) -> Bool {
    message.kind.hasPhoto && message.state != .publishing && message.reserved == nil
  }

  /// Sends the first messages in `window`, and removes the published ones.
  ///
  /// - Parameters:
  ///   - begun: the batch, if it has begun.
  ///   - resets: those of the circuits before it began.
  private func send(
    _ begun: [Begun], _ window: inout Window, _ pace: inout BatchSize, since resets: Int
  ) async throws -> Outcome {
    guard let first = window.messages.first else { return .goOn([]) }
    do {
      var run = begun
      if run.isEmpty {
        if let error = gate?.wasGivenUp(first) { throw StepError(step: .publish, error: error) }
        if hasExpired(first) { throw StepError(step: .publish, error: expired(first)) }
        if try await settleOutcome(of: first) { return .goOn([]) }
        run = try await begin(window, pace)
      }
      return .goOn(try await publish(run, &window, &pace))
    } catch let failure as StepError {
      // Cut off by a stop with unknown outcome; the next start finds out, as after a kill.
      if Task.isCancelled { return .wait }
      return try await settle(window.messages[0], failure, window: window, since: resets)
    } catch is CancellationError {
      // Cancelled by its owner, unless the daemon stops; the ledger knows.
      if Task.isCancelled || isStopping.isSet { return .wait }
      try await photos.discard([window.messages[0].message])
      signals.sweeper.ring()
      return .goOn([])
    }
  }

  // MARK: Failure

  private func settle(
    _ message: QueuedMessage, _ failure: StepError, window: Window, since resets: Int
  ) async throws -> Outcome {
    let now = Timestamp.now()
    let error = failure.error
    var metadata: Logger.Metadata = [
      "request": "\(message.request)", "message": "\(message.message)", "step": "\(failure.step.rawValue)",
      "attempt": "\(message.attempts + 1)", "cause": "\(error.cause.rawValue)", "error": "\(error.sentence)",
    ]
    if let destination = failure.destination { metadata["destination"] = "\(destination)" }
    switch error.cause.disposition {
    case .fail:
      if let obstacle = await gate?.giveUp(message, error) {
        return try await settle(message, StepError(step: failure.step, error: obstacle), window: window, since: resets)
      }
      log.warning("failed", metadata: metadata)
      if failure.wasTried, let destination = failure.destination { try await circuits.answered(destination) }
      try await ledger.fail(message, step: failure.step.rawValue, error: error, at: now)
      try await photos.discard(window.messages.filter { $0.requestRow == message.requestRow }.map(\.message))
      signals.sweeper.ring()
      signals.filing.ring()
      return .goOn([])
    case .retry, .hold:
      if try await park(message, failure, window: window) {
        log.info("waits for its destination", metadata: metadata)
        return .wait
      }
      let delay = settings.delay(after: error, of: failure.destination, attempt: message.attempts + 1)
      log.warning("waits", metadata: metadata.merging(["wait": "\(StepTimes.text(delay))"]) { $1 })
      try await ledger.postpone(
        message, step: failure.step.rawValue, error: error, until: now.advanced(seconds: delay),
        keepsUpload: photos.holds(message.message), at: now)
      // A refusal from before a reload or flush says nothing of the credentials since then.
      if error.cause.disposition == .hold, await circuits.resets != resets { _ = try await ledger.flush(at: .now()) }
      try await photos.trim(ahead(of: window))
      return .wait
    }
  }

  /// Parks the conversation if the failure concerns its destination and not the message. Returns false if the message
  /// waits for its own next attempt instead.
  private func park(_ message: QueuedMessage, _ failure: StepError, window: Window) async throws -> Bool {
    guard let destination = failure.destination else { return false }
    if failure.wasTried {
      try await circuits.failed(destination, failure.error, conversation: message.conversationRow)
      guard failure.error.cause == .unreachable else { return false }
    }
    try await ledger.park(
      message, for: destination, error: failure.error,
      until: message.acceptedAt.advanced(seconds: settings.lifetime.seconds),
      keepsUpload: photos.holds(message.message), at: .now())
    try await circuits.hasParked(for: destination, failure.error)
    try await photos.trim(ahead(of: window))
    return true
  }

  func hasExpired(_ message: QueuedMessage) -> Bool {
    Timestamp.now().seconds(since: message.acceptedAt) > settings.lifetime.seconds
  }

  private func expired(_ message: QueuedMessage) -> DeliveryError {
    let days = Int(settings.lifetime / .days(1))
    let span = days > 0 ? "\(days) days" : "\(Int(settings.lifetime.seconds)) seconds"
    return DeliveryError(.expired, "not sent within \(span) of its acceptance; move it into new/ to try again")
  }
}
