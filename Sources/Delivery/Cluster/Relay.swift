import Clusters
import Ledgers
import Logging
import Messages
import Synchronization

/// Relays the requests of a conversation to the queue of the cluster, in order, one append at a time. Short texts that follow
/// each other share a record. Photos are prepared and stored first.
///
/// Before the queue gets a record, the messages of its requests are committed as `publishing`, with the record's id. A record
/// whose append was not answered is in doubt: it is looked for in the queue, then among the facts, and appended again under
/// its id if it is in neither. Later requests of the conversation wait for that.
///
/// While no server answers, all conversations wait for `cluster`. Whatever is full or refuses delays only its own
/// conversation, and so do photos that cannot be stored. After two conversations, all requests with photos wait for
/// `cluster.bytes`.
struct Relay: Sendable, HasCore {
  let core: DeliveryCore
  let link: ClusterLink
  let files: RequestFiles
  let photos: PhotoRelay
  let circuits: Circuits
  private let doubts = Doubts()

  /// Seconds until a conversation that waits by itself is tried again.
  private static let pause = 5.0
  /// The bytes of the texts that share a record.
  private static let bytesInRecord = 64 << 10
  private static let work = "a request is not relayed to the cluster now"

  /// Why a request is not relayed now.
  private struct Obstacle {
    let error: DeliveryError
    /// Who did not take it; nil for this host.
    var destination: String?
  }

  private enum Result {
    case relayed
    /// The queue surely does not get it.
    case untried(Obstacle)
    case inDoubt(Obstacle)
    /// It can never be relayed; the queue surely does not get it.
    case failed(QueuedMessage, StepError.Step, DeliveryError)
  }

  /// Relays until nothing waits, or the conversation has to wait.
  ///
  /// - Parameter expired: the error of a request that has waited too long.
  func run(
    _ conversation: Int64, isStopping: () -> Bool, expired: (QueuedMessage) -> DeliveryError?
  ) async throws {
    var ahead = PhotosAhead(photos)
    do {
      try await run(conversation, &ahead, isStopping: isStopping, expired: expired)
    } catch {
      await ahead.end()
      throw error
    }
    await ahead.end()
  }

  private func run(
    _ conversation: Int64, _ ahead: inout PhotosAhead, isStopping: () -> Bool,
    expired: (QueuedMessage) -> DeliveryError?
  ) async throws {
    while !isStopping() && !Task.isCancelled {
      let requests = try await ledger.relayable(in: conversation)
      await ahead.keep(requests.filter(\.hasPhotos).map { id(of: $0) })
      guard let first = requests.first, !first.first.isHeld else { return }
      if first.first.isDuplicate {
        if try await ledger.awaitsRelayed(first.first) {
          // Its end rings earlier.
          return try await ledger.delayRelaying(
            first.first, for: nil, error: nil, until: Timestamp.now().advanced(seconds: 5))
        }
        if try await ledger.decideDuplicate(first.first, at: .now()) { signals.filing.ring() }
        continue
      }
      if !first.isInDoubt, let error = expired(first.first) {
        try await fail(first.first, .publish, error)
        await photos.remove(first, as: id(of: first))
        continue
      }
      let due = first.first.acceptedAt.advanced(seconds: plan.delivery.lifetime.seconds)
      guard try await relay(requests, &ahead, due: due) else { return }
    }
  }

  /// The first of `requests` that share a record: those of a record in doubt, or short texts, or one alone.
  private static func together(_ requests: [RelayableRequest]) -> [RelayableRequest] {
    guard let next = requests.first else { return [] }
    if next.isInDoubt {
      guard let record = next.first.record else { return [next] }
      return Array(requests.prefix { $0.isInDoubt && $0.first.record == record })
    }
    guard next.isText else { return [next] }
    var bytes = 0
    let texts = requests.prefix(RelayedRequest.mostInRecord).prefix { request in
      bytes += request.messages.reduce(0) { $0 + $1.bytes }
      return request.isText && request.isUntried && bytes <= bytesInRecord
    }
    return texts.isEmpty ? [next] : Array(texts)
  }

  /// Relays the first of `waiting` in one record, while the photos of the next ones are prepared and stored. Returns false if
  /// the conversation has to wait.
  private func relay(
    _ waiting: [RelayableRequest], _ ahead: inout PhotosAhead, due: Timestamp
  ) async throws -> Bool {
    let requests = Self.together(waiting)
    guard let next = requests.first else { return false }
    let (first, conversation) = (next.first, next.first.conversationRow)
    // One in doubt may be in the queue; the store is then not needed.
    let needed = [ClusterLink.destination] + (next.hasPhotos && !next.isInDoubt ? [ClusterLink.bytesDestination] : [])
    for destination in needed {
      if let error = await circuits.obstacle(to: destination, for: conversation) {
        try await wait(first, Obstacle(error: error, destination: destination), until: due)
        return false
      }
    }
    if next.hasPhotos, !next.isInDoubt {
      // Before anything is in doubt, so that the request can be cancelled meanwhile.
      do { try await ahead.store(next, as: id(of: next)) } catch {
        if error is CancellationError { throw error }
        let result = setback(error, isSurelyAbsent: true)
        if case .failed = result { await photos.remove(next, as: id(of: next)) }
        return try await settle(result, of: first, until: due)
      }
      try await circuits.succeeded(ClusterLink.bytesDestination, for: conversation)
      var count = 0
      let later = waiting.dropFirst().prefix { request in
        count += request.messages.count { $0.kind.hasPhoto }
        return count <= plan.delivery.lookahead
      }
      for request in later where request.hasPhotos && request.isUntried { ahead.start(request, as: id(of: request)) }
    }
    let doubt = next.isInDoubt ? next.first.record : nil
    let begun = try await ledger.beginRelaying(requests) { [self] in doubt ?? RecordID(of: $0.map { id(of: $0) }) }
    guard let (begun, record) = begun, let message = begun.first?.first else { return false }
    let result = try await relay(begun, as: record)
    switch result {
    case .relayed: try await ledger.endRelaying(relayed: begun, untried: [])
    case .untried, .failed: try await ledger.endRelaying(relayed: [], untried: begun)
    case .inDoubt: break
    }
    guard case .relayed = result else { return try await settle(result, of: message, until: due) }
    for request in begun {
      log.info("relayed", metadata: ["request": "\(request.first.request)", "record": "\(record)"])
    }
    troubles.end(Self.work)
    try await circuits.succeeded(ClusterLink.destination, for: conversation)
    return true
  }

  /// Lets the conversation wait, and returns false; or fails the request, and returns true.
  private func settle(_ result: Result, of message: QueuedMessage, until due: Timestamp) async throws -> Bool {
    switch result {
    case .relayed: return true
    case .untried(let obstacle), .inDoubt(let obstacle):
      if let destination = obstacle.destination {
        if obstacle.error.cause.concernsAll {
          try await circuits.failed(destination, obstacle.error, conversation: message.conversationRow)
        } else {
          try await circuits.answered(destination)
        }
      }
      try await wait(message, obstacle, until: due)
      return false
    case .failed(let message, let step, let error):
      try await fail(message, step, error)
      return true
    }
  }

  private func wait(_ message: QueuedMessage, _ obstacle: Obstacle, until due: Timestamp) async throws {
    let (error, soon) = (obstacle.error, Timestamp.now().advanced(seconds: Self.pause))
    guard let destination = obstacle.destination, error.cause.concernsAll,
      await circuits.open.contains(destination)
    else {
      // No recovery of a destination would end the wait.
      troubles.tell(Self.work, error)
      return try await ledger.delayRelaying(message, for: nil, error: error, until: soon)
    }
    try await ledger.delayRelaying(message, for: destination, error: error, until: max(due, soon))
    try await circuits.hasParked(for: destination, error)
  }

  private func fail(_ message: QueuedMessage, _ step: StepError.Step, _ error: DeliveryError) async throws {
    log.warning(
      "failed",
      metadata: [
        "request": "\(message.request)", "message": "\(message.message)", "step": "\(step.rawValue)",
        "cause": "\(error.cause.rawValue)", "error": "\(error.sentence)",
      ])
    try await ledger.fail(message, step: step.rawValue, error: error, at: .now())
    signals.filing.ring()
  }

  private func id(of request: RelayableRequest) -> RecordID {
    RecordID(host: link.host, request: request.first.request, acceptedAt: request.first.acceptedAt)
  }

  // MARK: One record

  private func relay(_ requests: [RelayableRequest], as id: RecordID) async throws -> Result {
    guard let next = requests.first else { return .relayed }
    let partition = Partition(of: next.first.conversation)
    var isSurelyAbsent = !next.isInDoubt
    do {
      if next.isInDoubt {
        if try await isThere(id, in: partition) {
          doubts.end(id)
          return .relayed
        }
        // An append may still arrive; until it cannot, nothing is given up.
        isSurelyAbsent = !doubts.mayArrive(id, memory: link.times.memory)
        if RecordID(of: requests.map { self.id(of: $0) }) != id {
          // Some have ended, so the queue had the record, and has lost it. The others are relayed anew.
          let obstacle = Obstacle(error: DeliveryError(.network, "the cluster has lost a record"))
          return isSurelyAbsent ? .untried(obstacle) : .inDoubt(obstacle)
        }
      }
      // The cluster may have lost them with the record.
      if next.isInDoubt, next.hasPhotos { try await photos.store(next, as: id) }
      var contents: [RelayedRequest] = []
      for request in requests { contents.append(try await self.contents(of: request)) }
      let sealed = try link.seal.record(.requests(contents), as: id)
      _ = try await link.queue.append(sealed, as: id, to: partition)
      doubts.end(id)
      return .relayed
    } catch {
      // It stays in doubt.
      if next.isInDoubt, error is CancellationError { throw error }
      if case .doubtful? = error as? QueueError {
        doubts.begin(id)
        isSurelyAbsent = false
      }
      return setback(error, isSurelyAbsent: isSurelyAbsent)
    }
  }

  private func setback(_ error: any Error, isSurelyAbsent: Bool) -> Result {
    let found: Obstacle
    switch error {
    case let error as QueueError: found = obstacle(error, .unreachable, at: ClusterLink.destination)
    case RelayFailure.store(let error): found = obstacle(error, .network, at: ClusterLink.bytesDestination)
    case RelayFailure.file(let message, let step, let error):
      if isSurelyAbsent, error.cause.disposition == .fail { return .failed(message, step, error) }
      found = Obstacle(error: error)
    default: found = Obstacle(error: DeliveryError(.localResources, "\(error)"))
    }
    return isSurelyAbsent ? .untried(found) : .inDoubt(found)
  }

  /// - Parameter cause: of an error that may concern all conversations.
  private func obstacle(_ error: QueueError, _ cause: Cause, at destination: String) -> Obstacle {
    let concernsOne =
      switch error {
      case .full, .refused: true
      case .unavailable, .doubtful, .lost: false
      }
    return Obstacle(
      error: DeliveryError(concernsOne ? .serverBusy : cause, "the cluster: \(error)"), destination: destination)
  }

  /// Whether the queue has the record, or had it until it was over. Asked in this order: a record leaves the queue after
  /// its fact is made.
  private func isThere(_ id: RecordID, in partition: Partition) async throws(QueueError) -> Bool {
    if try await link.queue.find(id, in: partition) != nil { return true }
    return try await link.queue.fact(of: id, from: link.host) != nil
  }

  private func contents(of request: RelayableRequest) async throws -> RelayedRequest {
    var parts: [RelayedRequest.Message] = []
    for message in request.messages {
      let text = message.kind == .text ? try await self.text(of: message) : nil
      parts.append(
        RelayedRequest.Message(
          message: message.message.text, kind: message.kind, position: message.position, file: message.file,
          bytes: message.bytes, digest: message.digest, text: text,
          mayBePublished: message.attempts > 0 || message.offeredTo != nil))
    }
    return RelayedRequest(
      host: link.host, request: request.first.request, conversation: request.first.conversation.text,
      inbox: request.first.inbox.text, acceptedAt: request.first.acceptedAt.milliseconds, messages: parts)
  }

  private func text(of message: QueuedMessage) async throws -> String {
    do { return try await files.texts(of: [message]).first ?? "" } catch let error as DeliveryError {
      throw RelayFailure.file(message, .publish, error)
    }
  }
}

extension RelayableRequest {
  fileprivate var hasPhotos: Bool { messages.contains(where: \.kind.hasPhoto) }
  fileprivate var isUntried: Bool { !isInDoubt && !first.isDuplicate }
}

/// Why a request is not relayed, besides the queue's errors.
enum RelayFailure: Error {
  case file(QueuedMessage, StepError.Step, DeliveryError)
  /// Its photos cannot be stored.
  case store(QueueError)

  /// A retry may succeed.
  var canPass: Bool {
    if case .file(_, _, let error) = self { error.cause.disposition != .fail } else { true }
  }
}

/// The requests whose append was not answered, and when it was last tried.
final class Doubts: Sendable {
  private let since = Mutex<[RecordID: ContinuousClock.Instant]>([:])
  private let begin = ContinuousClock.now

  func begin(_ id: RecordID) { since.withLock { $0[id] = .now } }
  func end(_ id: RecordID) { since.withLock { _ = $0.removeValue(forKey: id) } }

  /// Whether an append of a request in doubt may still arrive. A process that died may have tried it until this one began.
  func mayArrive(_ id: RecordID, memory: Duration) -> Bool {
    .now - since.withLock({ $0[id] ?? begin }) < memory
  }
}
