import Ledgers
import Logging
import Messages
import Networks
import Stores

/// Publishes the messages of one conversation, one after the other, while the photos behind the first are prepared and
/// uploaded. The next message begins when the previous one's outcome is committed.
struct ConversationWorker: Sendable {
  let conversation: Int64
  let ledger: Ledger
  let files: RequestFiles
  let photos: PhotoLine
  let plan: PlanInForce
  let circuits: Circuits
  let times: StepTimes
  let filing: Filing
  let sweeper: Sweeper
  let troubles: Troubles
  let log: Logger
  /// Asked between two messages: whether the daemon is stopping.
  let isStopping: @Sendable () -> Bool

  private var options: DeliveryOptions { plan.options }

  /// Messages that are published before other due conversations get their turn.
  private static let turn = 64

  private static let work = "the ledger failed; conversations wait"

  private enum Outcome {
    case goOn
    case wait
  }

  /// Works until nothing waits, the conversation has to wait, or its turn is over.
  func run() async {
    do {
      for served in 0..<Self.turn {
        let window = try await ledger.head(of: conversation, limit: min(options.lookahead + 1, Self.turn - served))
        guard let message = window.first, !message.isHeld, !isStopping() else { return troubles.end(Self.work) }
        for photo in window where needsUpload(photo) { await photos.start(photo) }
        if try await send(message, window: window) == .wait { return }
      }
      try await ledger.sendToBack(conversation, at: .now())
      troubles.end(Self.work)
    } catch is CancellationError {
    } catch {
      troubles.tell(Self.work, error)
      // Without a ledger there is nowhere to write a retry time, and nothing else to do than to wait a little.
      try? await Task.sleep(for: .seconds(1))
    }
  }

  /// A photo that may be published already is looked for first, with the upload that it had.
  private func needsUpload(_ message: QueuedMessage) -> Bool {
    message.kind.hasPhoto && message.state != .publishing && message.reserved == nil
  }

  private func send(_ message: QueuedMessage, window: [QueuedMessage]) async throws -> Outcome {
    do {
      let now = Timestamp.now()
      if now.seconds(since: message.acceptedAt) > options.lifetime {
        throw StepError(step: .publish, error: expired(message))
      }
      if try await wasPublished(message) { return .goOn }
      try await publish(message)
      return .goOn
    } catch let failure as StepError {
      return try await settle(message, failure, window: window)
    } catch is CancellationError {
      // Cancelled by its owner, unless the daemon is stopping; the ledger has the truth, so look again.
      if Task.isCancelled || isStopping() { return .wait }
      try await photos.discard([message.message])
      sweeper.wake()
      return .goOn
    }
  }

  // MARK: Publishing

  private func publish(_ message: QueuedMessage) async throws {
    let content: OutgoingMessage.Content
    var destinations = plan.destinations
    switch message.kind {
    case .text:
      do { content = .text(try await files.text(of: message)) } catch let error as DeliveryError {
        throw StepError(step: .prepare, error: error)
      }
      destinations = plan.destinations
    case .profileRemoval:
      content = .profileRemoval
    case .photo, .profile:
      var (photo, form) = try await photos.uploaded(message)
      // The plan may have changed while it was on its way.
      destinations = plan.destinations
      while form != destinations.route(for: message.conversation).form {
        (photo, form) = try await photos.uploaded(message)
        destinations = plan.destinations
      }
      content = message.kind == .profile ? .profile(photo.attachment) : .photo(photo.attachment)
    }
    let route = destinations.route(for: message.conversation)
    if let obstacle = await circuits.obstacle(to: route.network.name) {
      throw StepError(step: .publish, destination: route.network.name, error: obstacle, wasTried: false)
    }
    var outgoing = OutgoingMessage(
      message: message.message, request: message.request,
      conversation: destinations.address(of: message.conversation), inbox: message.inbox, content: content,
      firstTriedAt: message.firstTriedAt)
    let publication: Publication
    let attempt: Int
    let begin = ContinuousClock.now
    do {
      outgoing.reserved = try await route.network.reserve(outgoing)
      guard
        let number = try await ledger.beginPublishing(message, reserved: outgoing.reserved, at: .now())
      else { throw CancellationError() }
      attempt = number
      log.debug(
        "publishing",
        metadata: [
          "request": "\(message.request)", "message": "\(message.message)", "network": "\(route.network.name)",
          "attempt": "\(attempt)",
        ])
      publication = try await route.network.publish(outgoing)
    } catch let error as DeliveryError {
      throw try failure(error, of: route.network)
    }
    let seconds = times.done(.publish, since: begin)
    try await circuits.succeeded(route.network.name)
    try await markSent(message, publication, attempt: attempt, network: route.network.name, seconds: seconds)
  }

  private func markSent(
    _ message: QueuedMessage, _ publication: Publication, attempt: Int, network: String, seconds: String?
  ) async throws {
    let finished = try await ledger.markSent(
      message, publishedAt: publication.publishedAt, remote: publication.remoteID,
      attachment: publication.attachment, remoteUntil: Timestamp.now().advanced(seconds: options.remoteSeconds),
      network: network, at: .now())
    await photos.forget(message.message)
    if message.kind.isOfProfile {
      sweeper.wake()
      do { try await files.eraseSupersededProfiles(ledger) } catch {
        log.warning("an earlier profile photo stays in the cache for now", metadata: ["error": "\(error)"])
      }
    }
    let waited = Timestamp.now().seconds(since: message.acceptedAt)
    var metadata: Logger.Metadata = [
      "request": "\(message.request)", "message": "\(message.message)", "kind": "\(message.kind.rawValue)",
      "step": "publish", "network": "\(network)", "attempt": "\(attempt)",
      "waited": "\(StepTimes.text(max(0, waited)))",
    ]
    // Without, an earlier process published it.
    if let seconds { metadata["seconds"] = "\(seconds)" }
    log.info("sent", metadata: metadata)
    if finished != nil { filing.wake() }
  }

  /// Looks for a message that a process which died may have published, or that the network has an id for. The network's
  /// word decides; where it has none, the message is published again under its id, which networks take once.
  private func wasPublished(_ message: QueuedMessage) async throws -> Bool {
    guard message.state == .publishing || message.reserved != nil else { return false }
    let destinations = plan.destinations
    let network = destinations.route(for: message.conversation).network
    // Under a reserved id, looking for it is publishing it.
    if message.reserved != nil, let obstacle = await circuits.obstacle(to: network.name) {
      throw StepError(step: .publish, destination: network.name, error: obstacle, wasTried: false)
    }
    let tried = TriedMessage(
      message: message.message, conversation: destinations.address(of: message.conversation), inbox: message.inbox,
      firstTriedAt: message.firstTriedAt, reserved: message.reserved,
      photo: message.kind.hasPhoto ? try await ledger.photoSize(of: message.message) : nil)
    do {
      switch try await network.find(tried) {
      case .published(let publication):
        try await circuits.succeeded(network.name)
        try await markSent(message, publication, attempt: message.attempts, network: network.name, seconds: nil)
        return true
      case .absent:
        _ = try await ledger.startAgain(message, at: .now())
        sweeper.wake()
        return false
      case .unknown:
        return false
      }
    } catch let error as DeliveryError {
      throw try failure(error, of: network)
    }
  }

  /// - Throws: `CancellationError` for a publish that was cut off: whoever did that knows what it means.
  private func failure(_ error: DeliveryError, of network: any Network) throws -> StepError {
    if error.cause == .cancelled { throw CancellationError() }
    return StepError(step: .publish, destination: network.name, error: error)
  }

  // MARK: Failure

  private func settle(_ message: QueuedMessage, _ failure: StepError, window: [QueuedMessage]) async throws -> Outcome {
    let now = Timestamp.now()
    let error = failure.error
    var metadata: Logger.Metadata = [
      "request": "\(message.request)", "message": "\(message.message)", "step": "\(failure.step.rawValue)",
      "attempt": "\(message.attempts + 1)", "cause": "\(error.cause.rawValue)", "error": "\(error.sentence)",
    ]
    if let destination = failure.destination { metadata["destination"] = "\(destination)" }
    switch error.cause.disposition {
    case .fail:
      log.warning("failed", metadata: metadata)
      try await ledger.fail(message, step: failure.step.rawValue, error: error, at: now)
      try await photos.discard(window.filter { $0.requestRow == message.requestRow }.map(\.message))
      sweeper.wake()
      filing.wake()
      return .goOn
    case .retry, .hold:
      if try await park(message, failure, window: window) {
        log.info("waits for its destination", metadata: metadata)
        return .wait
      }
      let delay = options.retry.delay(after: error, attempt: message.attempts + 1, random: .random(in: 0...1))
      log.warning("waits", metadata: metadata.merging(["wait": "\(StepTimes.text(delay))"]) { $1 })
      try await ledger.postpone(
        message, step: failure.step.rawValue, error: error, until: now.advanced(seconds: delay),
        keepsUpload: photos.holds(message.message), at: now)
      try await photos.trim(window)
      return .wait
    }
  }

  /// Parks the conversation when the failure is one of its destination, and tells nothing of the message.
  ///
  /// - Returns: false when the message waits for its own next attempt instead.
  private func park(_ message: QueuedMessage, _ failure: StepError, window: [QueuedMessage]) async throws -> Bool {
    guard let destination = failure.destination else { return false }
    if failure.wasTried {
      let concernsAll = await circuits.failed(destination, failure.error, conversation: conversation)
      guard concernsAll, options.circuits.isUnsent(failure.error.cause) else { return false }
    }
    try await circuits.park(
      message, for: destination, error: failure.error, until: message.acceptedAt.advanced(seconds: options.lifetime),
      keepsUpload: photos.holds(message.message))
    try await photos.trim(window)
    return true
  }

  private func expired(_ message: QueuedMessage) -> DeliveryError {
    let days = Int(options.lifetime / 86_400)
    let span = days > 0 ? "\(days) days" : "\(Int(options.lifetime)) seconds"
    return DeliveryError(.expired, "not sent within \(span) of its acceptance; move it into new/ to try again")
  }
}
