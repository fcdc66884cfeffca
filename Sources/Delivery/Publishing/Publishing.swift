import Ledgers
import Logging
import Messages
import Networks

/// How a worker publishes: prepare the message, commit its attempt, ask the network, commit the outcome. Consecutive
/// texts do so in batches: one commit begins a batch and ends the previous one.
extension ConversationWorker {
  /// A message that is ready for the network.
  struct Ready: Sendable {
    let message: QueuedMessage
    let outgoing: OutgoingMessage
    let network: any Network
  }

  /// A message with a committed attempt.
  struct Begun: Sendable {
    let ready: Ready
    let attempt: Int
  }

  /// A message that the network has published.
  struct Sent: Sendable {
    let message: QueuedMessage
    let published: Published
    let network: any Network
    let attempt: Int
    /// Its duration; nil if an earlier process published it.
    var seconds: String?
  }

  // MARK: Beginning

  /// Begins the first message of `window` and, if it is a text, texts after it.
  ///
  /// - Returns: empty if the conversation is held.
  /// - Throws: `CancellationError` if the first was cancelled.
  func begin(_ window: Window, _ pace: BatchSize) async throws -> [Begun] {
    guard let message = window.messages.first else { return [] }
    try await admitText(of: message)
    var run = [message]
    if message.kind == .text, message.offeredTo == nil {
      let network = plan.destinations.route(for: message.conversation).network
      run += texts(of: window, from: 1, limit: pace.length(on: network) - 1, bytes: BatchSize.bytes - message.bytes)
    }
    let begun = try await commit(thenBegin: makeReady(run))
    if begun?.isEmpty == true { throw CancellationError() }
    return begun ?? []
  }

  /// Checks the text before its photos are published.
  private func admitText(of message: QueuedMessage) async throws {
    guard message.kind == .photo else { return }
    let (route, address) = try way(of: message, in: plan.destinations)
    guard let limit = route.network.textLimit, let text = try await ledger.text(ofRequest: message.requestRow) else {
      return
    }
    let texts: [String]
    do { texts = try await files.texts(of: [text]) } catch let error as DeliveryError {
      throw StepError(step: .prepare, error: error)
    }
    do throws(DeliveryError) { for text in texts { try await limit(text, address) } } catch {
      if error.cause == .rejected { throw StepError(step: .prepare, error: error) }
      throw try failure(error, of: route.network)
    }
  }

  /// Texts that can begin together and have not expired.
  private func texts(
    of window: Window, from first: Int, limit: Int, bytes: Int = BatchSize.bytes
  ) -> [QueuedMessage] {
    Array(window.run(from: first, limit: limit, lookahead: settings.lookahead, bytes: bytes).prefix { !hasExpired($0) })
  }

  /// Reads everything needed to publish a message or a batch of texts. Messages after an unreadable text are left for
  /// later.
  private func makeReady(_ messages: [QueuedMessage]) async throws -> [Ready] {
    guard let first = messages.first else { return [] }
    let contents: [OutgoingMessage.Content]
    var destinations = plan.destinations
    switch first.kind {
    case .text:
      do { contents = try await files.texts(of: messages).map { .text($0) } } catch let error as DeliveryError {
        throw StepError(step: .publish, error: error)
      }
      destinations = plan.destinations
    case .profileRemoval:
      guard try await ledger.mayHaveProfilePhoto(first.inbox) else {
        throw StepError(
          step: .publish,
          error: DeliveryError(.rejected, "the inbox has no profile photo to remove; `photospool profile show` tells"))
      }
      contents = [.profileRemoval]
    case .photo, .profile:
      var (photo, route) = try await photos.uploaded(first)
      // The plan may have changed during the upload.
      destinations = plan.destinations
      while try route != way(of: first, in: destinations).route.key {
        (photo, route) = try await photos.uploaded(first)
        destinations = plan.destinations
      }
      contents = [first.kind == .profile ? .profile(photo.attachment) : .photo(photo.attachment)]
    }
    let network = try way(of: first, in: destinations).route.network
    if let obstacle = await circuits.obstacle(to: network.name, for: first.conversationRow) {
      throw StepError(step: .publish, destination: network.name, error: obstacle, wasTried: false)
    }
    var run: [Ready] = []
    // The plan may have changed since they were chosen.
    for (message, content) in zip(messages.prefix(network.takesBatches ? messages.count : 1), contents) {
      var outgoing = OutgoingMessage(
        message: message.message, request: message.clientsName, address: try way(of: message, in: destinations).address,
        inbox: message.inbox, content: content, firstTriedAt: message.firstTriedAt)
      do { outgoing.reserved = try await network.reserve(outgoing) } catch { throw try failure(error, of: network) }
      run.append(Ready(message: message, outgoing: outgoing, network: network))
    }
    return run
  }

  // MARK: Publishing

  /// Publishes a batch that begins with the first message of `window`, and removes the published ones from it.
  ///
  /// - Returns: the next batch, if it has begun in the same commit.
  /// - Throws: the error of the message that is now first in `window`.
  func publish(_ run: [Begun], _ window: inout Window, _ pace: inout BatchSize) async throws -> [Begun] {
    guard let first = run.first else { return [] }
    let network = first.ready.network
    let batch = TextBatch(run.dropFirst())
    // Later messages of a slow batch can then be cancelled again, and published ones do not wait for one without an
    // answer.
    let timeout =
      run.count == 1
      ? nil
      : Task {
        try? await Task.sleep(for: BatchSize.time)
        if !Task.isCancelled { try await commit(batch.takeAll()) }
      }
    var published = 0
    var failure: (any Error)?
    let begin = ContinuousClock.now
    var inHand: Begun? = first
    while let begun = inHand {
      do { batch.add(try await publish(begun)) } catch {
        failure = error
        break
      }
      published += 1
      inHand = isStopping.isSet || Task.isCancelled ? nil : batch.next()
    }
    pace.published(published, in: ContinuousClock.now - begin)
    timeout?.cancel()
    try await timeout?.value
    var next: [Ready] = []
    // A reservation may take long, and these should be recorded as sent first. Other errors occur again in their own
    // turn.
    if failure == nil, published == run.count, first.ready.outgoing.reserved == nil, !isStopping.isSet,
      plan.destinations.route(for: first.ready.message.conversation).network.name == network.name
    {
      let texts = texts(of: window, from: run.count, limit: pace.length(on: network))
      next = (try? await makeReady(texts)) ?? []
    }
    let begun = try await commit(batch.takeAll(), thenBegin: next)
    window.messages.removeFirst(published)
    if let failure { throw failure }
    return begun ?? []
  }

  private func publish(_ begun: Begun) async throws -> Sent {
    let (message, network) = (begun.ready.message, begun.ready.network)
    log.debug(
      "publishing",
      metadata: [
        "request": "\(message.request)", "message": "\(message.message)", "network": "\(network.name)",
        "attempt": "\(begun.attempt)",
      ])
    if let obstacle = gate?.obstacle(to: message) { throw StepError(step: .publish, error: obstacle) }
    let publication: Publication
    let begin = ContinuousClock.now
    do { publication = try await network.publish(begun.ready.outgoing) } catch { throw try failure(error, of: network) }
    let seconds = times.done(.publish, since: begin)
    try await circuits.succeeded(network.name, for: message.conversationRow)
    return Sent(
      message: message, published: published(publication, on: network), network: network, attempt: begun.attempt,
      seconds: seconds)
  }

  private func published(_ publication: Publication, on network: any Network) -> Published {
    Published(
      at: publication.publishedAt, remote: publication.remoteID, attachment: publication.attachment,
      remoteUntil: Timestamp.now().advanced(seconds: plan.now.settings.cache.remote.seconds), network: network.name)
  }

  /// - Returns: those of `next` that began in the same commit; nil if the conversation is held.
  @discardableResult
  private func commit(
    _ run: (sent: [Sent], untried: [Begun]) = ([], []), thenBegin next: [Ready] = []
  ) async throws -> [Begun]? {
    if run.sent.isEmpty && run.untried.isEmpty && next.isEmpty { return [] }
    let (finished, attempts) = try await ledger.end(
      sent: run.sent.map { ($0.message, $0.published) }, untried: run.untried.map(\.ready.message),
      thenBegin: next.map { next in
        let recipient = Recipient(network: next.network.name, address: next.outgoing.address)
        return (next.message, next.outgoing.reserved, recipient)
      }, at: .now())
    for sent in run.sent {
      await sent.network.forget(sent.message.message)
      await noteSent(sent)
    }
    if !finished.isEmpty { signals.filing.ring() }
    return attempts.map { zip(next, $0).map(Begun.init) }
  }

  private func noteSent(_ sent: Sent) async {
    let message = sent.message
    if message.kind.hasPhoto { await photos.forget(message.message) }
    if message.kind.isOfProfile {
      signals.sweeper.ring()
      do { try await files.eraseSupersededProfiles(ledger) } catch {
        log.warning("an earlier profile photo stays in the cache for now", metadata: ["error": "\(error)"])
      }
    }
    let waited = Timestamp.now().seconds(since: message.acceptedAt)
    var metadata: Logger.Metadata = [
      "request": "\(message.request)", "message": "\(message.message)", "kind": "\(message.kind.rawValue)",
      "step": "publish", "network": "\(sent.published.network)", "attempt": "\(sent.attempt)",
      "waited": "\(StepTimes.text(max(0, waited)))",
    ]
    if let seconds = sent.seconds { metadata["seconds"] = "\(seconds)" }
    log.info("sent", metadata: metadata)
  }

  /// Asks the network for a message that a dead process may have published, or that has a reserved id. It asks the network
  /// that got the message, also after a change of routes. Without an answer the message is published there again under its
  /// id, which networks accept once.
  ///
  /// - Returns: whether the message changed.
  func settleOutcome(of message: QueuedMessage) async throws -> Bool {
    guard message.state == .publishing || message.reserved != nil else { return false }
    if let gate {
      if let obstacle = gate.obstacle(to: message) { throw StepError(step: .publish, error: obstacle) }
      if try await gate.hasEnded(message) {
        try await ledger.endElsewhere(message, at: .now())
        signals.filing.ring()
        return true
      }
    }
    let (route, address) = try way(of: message, in: plan.destinations)
    let network = route.network
    // With a reserved id, looking for it publishes it.
    if message.reserved != nil, let obstacle = await circuits.obstacle(to: network.name, for: message.conversationRow) {
      throw StepError(step: .publish, destination: network.name, error: obstacle, wasTried: false)
    }
    let tried = TriedMessage(
      message: message.message, address: address, reserved: message.reserved,
      photo: message.kind.hasPhoto ? try await ledger.photoSize(of: message.message) : nil)
    do {
      switch try await network.find(tried) {
      case .published(let publication):
        try await circuits.succeeded(network.name, for: message.conversationRow)
        let sent = Sent(
          message: message, published: published(publication, on: network), network: network, attempt: message.attempts)
        try await commit(([sent], []))
        return true
      case .absent:
        _ = try await ledger.startAgain(message, at: .now())
        if gate != nil {
          try await ledger.endInheritance(behind: message, at: .now())
          // It may have ended what was cancelled.
          signals.filing.ring()
        }
        signals.sweeper.ring()
        return true
      case .unknown:
        return false
      }
    } catch let error as DeliveryError {
      throw try failure(error, of: network)
    }
  }

  private func way(
    of message: QueuedMessage, in destinations: Destinations
  ) throws(StepError) -> (route: Route, address: Address) {
    do { return try destinations.way(of: message) } catch { throw StepError(step: .publish, error: error) }
  }

  /// - Throws: `CancellationError` for a publish that was cut off; its canceller handles it.
  private func failure(_ error: DeliveryError, of network: any Network) throws -> StepError {
    if error.cause == .cancelled { throw CancellationError() }
    return StepError(step: .publish, destination: network.name, error: error)
  }
}
