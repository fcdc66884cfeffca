import Clusters
import Ledgers
import Logging
import Messages
import Photos
import Synchronization

/// Relays the requests of a conversation to the queue of the cluster, in order, one append at a time.
///
/// Before the queue gets a request, its messages are committed as `publishing`. A request whose append was not answered is
/// in doubt: it is looked for in the queue, then among the facts, and appended again under its id if it is in neither. Later
/// requests of the conversation wait for that.
struct Relay: Sendable {
  let link: ClusterLink
  let ledger: Ledger
  let files: RequestFiles
  let circuits: Circuits
  let doubts: Doubts
  let log: Logger

  /// Seconds until a file that could not be read is tried again.
  private static let pause = 5.0

  private enum Result {
    case relayed
    /// The queue surely does not get it.
    case untried(DeliveryError)
    case inDoubt(DeliveryError)
    /// It can never be relayed; the queue surely does not get it.
    case failed(QueuedMessage, DeliveryError)
  }

  /// Relays until nothing waits, or the conversation has to wait.
  ///
  /// - Parameters:
  ///   - lifetime: the seconds that a request may wait.
  ///   - expired: the error of one that has waited too long.
  ///   - ended: called after a request ended here.
  func run(
    _ conversation: Int64, lifetime: Double, isStopping: () -> Bool, expired: (QueuedMessage) -> DeliveryError?,
    ended: () -> Void
  ) async throws {
    while !isStopping() && !Task.isCancelled {
      let requests = try await ledger.relayable(in: conversation)
      guard let first = requests.first, !first.first.isHeld else { return }
      if first.first.isDuplicate {
        if try await ledger.awaitsRelayed(first.first) {
          // Its end rings earlier.
          return try await ledger.delayRelaying(
            first.first, for: nil, error: nil, until: Timestamp.now().advanced(seconds: 5))
        }
        if try await ledger.decideDuplicate(first.first, at: .now()) { ended() }
        continue
      }
      if !first.isInDoubt, let error = expired(first.first) {
        try await fail(first.first, error)
        ended()
        continue
      }
      let ready = Array(requests.prefix { !$0.first.isDuplicate })
      let due = first.first.acceptedAt.advanced(seconds: lifetime)
      guard try await relay(ready, due: due, isStopping: isStopping, ended: ended) else { return }
    }
  }

  /// Relays requests in order. Returns false if the conversation has to wait.
  private func relay(
    _ requests: [RelayableRequest], due: Timestamp, isStopping: () -> Bool, ended: () -> Void
  ) async throws -> Bool {
    guard let first = requests.first?.first else { return false }
    let destination = ClusterLink.destination
    if let obstacle = await circuits.obstacle(to: destination, for: first.conversationRow) {
      try await wait(first, obstacle, until: due)
      return false
    }
    let begun = try await ledger.beginRelaying(requests)
    var relayed: [RelayableRequest] = []
    var result = Result.relayed
    for request in begun {
      if isStopping() || Task.isCancelled { break }
      result = await relay(request)
      guard case .relayed = result else { break }
      relayed.append(request)
    }
    var untried = Array(begun.dropFirst(relayed.count))
    if case .inDoubt = result { untried.removeFirst() }
    try await ledger.endRelaying(relayed: relayed, untried: untried)
    for request in relayed {
      log.info("relayed", metadata: ["request": "\(request.first.request)", "record": "\(record(of: request))"])
    }
    if !relayed.isEmpty { try await circuits.succeeded(destination, for: first.conversationRow) }
    switch result {
    case .relayed: return !begun.isEmpty
    case .untried(let error), .inDoubt(let error):
      try await circuits.failed(destination, error, conversation: first.conversationRow)
      try await wait(begun[relayed.count].first, error, until: due)
      return false
    case .failed(let message, let error):
      try await fail(message, error)
      ended()
      return true
    }
  }

  private func wait(_ message: QueuedMessage, _ error: DeliveryError, until due: Timestamp) async throws {
    let soon = Timestamp.now().advanced(seconds: Self.pause)
    // The cluster is not to blame, so its recovery would not end the wait.
    guard error.cause == .unreachable else {
      return try await ledger.delayRelaying(message, for: nil, error: error, until: soon)
    }
    try await ledger.delayRelaying(message, for: ClusterLink.destination, error: error, until: max(due, soon))
    try await circuits.hasParked(for: ClusterLink.destination, error)
  }

  private func fail(_ message: QueuedMessage, _ error: DeliveryError) async throws {
    log.warning(
      "failed",
      metadata: [
        "request": "\(message.request)", "message": "\(message.message)", "step": "relay",
        "cause": "\(error.cause.rawValue)", "error": "\(error.sentence)",
      ])
    try await ledger.fail(message, step: StepError.Step.publish.rawValue, error: error, at: .now())
  }

  private func record(of request: RelayableRequest) -> RecordID {
    RecordID(host: link.host, request: request.first.request, acceptedAt: request.first.acceptedAt)
  }

  // MARK: One request

  private func relay(_ request: RelayableRequest) async -> Result {
    let (id, partition) = (record(of: request), Partition(of: request.first.conversation))
    var isSurelyAbsent = !request.isInDoubt
    do {
      if request.isInDoubt {
        if try await isThere(id, in: partition) {
          doubts.end(id)
          return .relayed
        }
        // An append may still arrive; until it cannot, nothing is given up.
        isSurelyAbsent = !doubts.mayArrive(id, memory: link.times.memory)
      }
      let contents = try await contents(of: request)
      try await putPhotos(of: request, as: id)
      let sealed = try link.seal.record(.request(contents), as: id)
      _ = try await link.queue.append(sealed, as: id, to: partition)
      doubts.end(id)
      return .relayed
    } catch let error as QueueError {
      if case .doubtful = error {
        doubts.begin(id)
        isSurelyAbsent = false
      }
      return isSurelyAbsent ? .untried(error.waiting) : .inDoubt(error.waiting)
    } catch let failure as FileFailure {
      if !isSurelyAbsent { return .inDoubt(failure.error) }
      return failure.error.cause.disposition == .fail
        ? .failed(failure.message, failure.error) : .untried(failure.error)
    } catch {
      let error = DeliveryError(.localResources, "\(error)")
      return isSurelyAbsent ? .untried(error) : .inDoubt(error)
    }
  }

  /// Whether the queue has the record, or had it until it was over. Asked in this order: a record leaves the queue after
  /// its fact is made.
  private func isThere(_ id: RecordID, in partition: Partition) async throws(QueueError) -> Bool {
    if try await link.queue.find(id, in: partition) != nil { return true }
    return try await link.queue.fact(of: id, from: link.host) != nil
  }

  private struct FileFailure: Error {
    let message: QueuedMessage
    let error: DeliveryError
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
      let cause = error.cause == .photoChanged ? Cause.textChanged : error.cause
      throw FileFailure(message: message, error: DeliveryError(cause, error.sentence))
    }
  }

  private func putPhotos(of request: RelayableRequest, as id: RecordID) async throws {
    try await withThrowingTaskGroup(of: Void.self) { group in
      for message in request.messages where message.kind.hasPhoto {
        group.addTask {
          let name = BlobName(record: id, part: message.position)
          let bytes: [UInt8]
          do { bytes = try await files.contents(ofPhoto: message) } catch let error as DeliveryError {
            throw FileFailure(message: message, error: error)
          }
          // Bytes without a record do no harm, so a lost answer puts nothing in doubt.
          do { try await link.bytes.put(link.seal.blob(bytes, as: name), as: name) } catch let error as QueueError {
            throw QueueError.unavailable(error.description)
          }
        }
      }
      try await group.waitForAll()
    }
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
