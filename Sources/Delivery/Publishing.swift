import Ledgers
import Logging
import Messages
import Networks

/// How a worker publishes: what a message takes is got ready, its attempt is committed, the network is asked, and the outcome
/// is committed; with that, where it can, the attempt of the text behind it.
extension ConversationWorker {
  /// A message that can be handed to the network.
  struct Ready {
    let message: QueuedMessage
    let outgoing: OutgoingMessage
    let network: any Network
  }

  /// One whose attempt is committed.
  struct Begun {
    let ready: Ready
    let attempt: Int
  }

  /// The message behind the first of `window`, if it can begin in the commit that ends that one: nothing of it has to be
  /// prepared or looked for, and there is no photo behind it to look ahead of.
  private func textBehindFirst(of window: Window) -> QueuedMessage? {
    let rest = window.messages.dropFirst()
    guard let next = rest.first, next.kind == .text, next.state == .pending, next.reserved == nil, !hasExpired(next),
      window.isWhole || rest.count > options.lookahead,
      !rest.prefix(options.lookahead + 1).contains(where: \.kind.hasPhoto)
    else { return nil }
    return next
  }

  /// Has everything at hand that `message` takes to be published.
  private func makeReady(_ message: QueuedMessage) async throws -> Ready {
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
    do { outgoing.reserved = try await route.network.reserve(outgoing) } catch {
      throw try failure(error, of: route.network)
    }
    return Ready(message: message, outgoing: outgoing, network: route.network)
  }

  func begin(_ message: QueuedMessage) async throws -> Begun {
    let ready = try await makeReady(message)
    guard let attempt = try await ledger.beginPublishing(message, reserved: ready.outgoing.reserved, at: .now()) else {
      throw CancellationError()
    }
    return Begun(ready: ready, attempt: attempt)
  }

  /// Publishes the first message of `window`.
  ///
  /// - Returns: the one behind it, if it has begun in the commit that ended this one.
  func publish(_ begun: Begun, window: Window) async throws -> Begun? {
    let (message, network) = (begun.ready.message, begun.ready.network)
    log.debug(
      "publishing",
      metadata: [
        "request": "\(message.request)", "message": "\(message.message)", "network": "\(network.name)",
        "attempt": "\(begun.attempt)",
      ])
    let publication: Publication
    let begin = ContinuousClock.now
    do { publication = try await network.publish(begun.ready.outgoing) } catch { throw try failure(error, of: network) }
    let seconds = times.done(.publish, since: begin)
    try await circuits.succeeded(network.name)
    var next: Ready?
    // To reserve may take long, and this one is to be known as sent. What else goes wrong is met again in its own turn.
    if begun.ready.outgoing.reserved == nil, !isStopping(), let text = textBehindFirst(of: window),
      plan.destinations.route(for: text.conversation).network.name == network.name
    {
      next = try? await makeReady(text)
    }
    return try await markSent(
      message, publication, attempt: begun.attempt, network: network.name, seconds: seconds, thenBegin: next)
  }

  /// - Returns: what was to begin in the same commit, if it has.
  @discardableResult
  private func markSent(
    _ message: QueuedMessage, _ publication: Publication, attempt: Int, network: String, seconds: String?,
    thenBegin next: Ready? = nil
  ) async throws -> Begun? {
    let published = Published(
      at: publication.publishedAt, remote: publication.remoteID, attachment: publication.attachment,
      remoteUntil: Timestamp.now().advanced(seconds: options.remoteSeconds), network: network)
    let finished: RequestState?
    var begun: Begun?
    if let next {
      let number: Int?
      (finished, number) = try await ledger.markSent(
        message, published, thenBegin: next.message, reserved: next.outgoing.reserved, at: .now())
      begun = number.map { Begun(ready: next, attempt: $0) }
    } else {
      finished = try await ledger.markSent(message, published, at: .now())
    }
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
    return begun
  }

  /// Looks for a message that a process which died may have published, or that the network has an id for. The network's
  /// word decides; where it has none, the message is published again under its id, which networks take once.
  func wasPublished(_ message: QueuedMessage) async throws -> Bool {
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
}
