import Clusters
import Ledgers
import Messages
import Signalling

/// Decides whether an owner may publish a message, and whether it may give a request up.
struct OwnerGate: Sendable {
  let link: ClusterLink
  let lease: Lease
  let ledger: Ledger
  /// Failures that may be facts, because the answer was lost. While this host owns the partition, it does not publish
  /// such a message again.
  private let unanswered = InForce<[Partition: [RecordID: DeliveryError]]>([:])

  /// Why a message must not be sent now, if so.
  func obstacle(to message: QueuedMessage) -> DeliveryError? {
    lease.covers(message.conversation)
      ? nil : DeliveryError(.conflict, "this host may not publish it now; its lease has ended", retryAfter: 1)
  }

  /// Why a message was given up, if that may be a fact already.
  func wasGivenUp(_ message: QueuedMessage) -> DeliveryError? {
    message.id.flatMap { unanswered.now[Partition(of: message.conversation)]?[$0] }
  }

  /// Forgets the failures of a partition that is left: another owner may publish what was not given up.
  func forget(_ partition: Partition) { unanswered.change { $0[partition] = nil } }

  /// Whether the end of a message's request is in the queue already.
  func hasEnded(_ message: QueuedMessage) async throws -> Bool {
    guard let (id, origin) = try await identity(of: message) else { return false }
    do throws(QueueError) {
      if try await link.queue.fact(of: id, from: origin) != nil { return true }
      guard let record = message.record, record != id else { return false }
      return try await link.queue.fact(of: record, from: origin) != nil
    } catch {
      throw StepError(step: .publish, error: DeliveryError(.network, error.description, retryAfter: 1))
    }
  }

  /// Makes the failure of a request a fact, so that no other owner publishes it later. Another fact may stand instead.
  ///
  /// - Returns: why that is not possible now, if so.
  func giveUp(_ message: QueuedMessage, _ reason: DeliveryError) async -> DeliveryError? {
    if let obstacle = obstacle(to: message) { return obstacle }
    let partition = Partition(of: message.conversation)
    do {
      guard let (id, origin) = try await identity(of: message) else { return nil }
      let parts = try await ledger.parts(ofRequest: message.requestRow)
      let end = RequestEnd(
        id: id, request: message.clientsName, failed: message.row, because: reason, parts: parts, at: .now())
      let fact = try link.seal.fact([end], of: id)
      if let record = message.record, record != id, try await link.queue.fact(of: record, from: origin) != nil {
        // An earlier owner has told all ends of the record.
        return nil
      }
      // Between a look at the lease and this one, the host may have slept, and others may have shown the message.
      if let obstacle = obstacle(to: message) { return obstacle }
      do throws(QueueError) { _ = try await link.queue.conclude(fact, of: id, from: origin) } catch {
        if case .doubtful = error {
          unanswered.change { $0[partition, default: [:]][id] = $0[partition]?[id] ?? reason }
        }
        throw error
      }
      unanswered.change { $0[partition]?[id] = nil }
      return nil
    } catch {
      return DeliveryError(.network, "its failure cannot be recorded in the cluster: \(error)", retryAfter: 1)
    }
  }

  private func identity(of message: QueuedMessage) async throws -> (RecordID, HostID)? {
    guard let id = message.id, let origin = try await ledger.origin(ofRequest: message.requestRow) else { return nil }
    return (id, origin)
  }
}

extension RequestEnd {
  /// The end of a request that is over in the owner's ledger; nil for another ledger's, and for one whose messages came
  /// again in another request.
  init?(_ request: UnfiledRequest) {
    guard let id = request.id, !request.messages.isEmpty else { return nil }
    self.init(
      id: id, request: request.droppedAs, state: request.state, cause: request.cause, error: request.error,
      finishedAt: request.finishedAt.milliseconds,
      messages: request.messages.map { Message($0.own, $0.photo) })
  }

  /// The end of a request that fails because of one message, before the ledger knows.
  init(
    id: RecordID, request: String, failed row: Int64, because error: DeliveryError,
    parts: [(own: MessageRow, photo: PhotoRow?)], at now: Timestamp
  ) {
    let file = parts.first { $0.own.row == row }?.own.file ?? ""
    self.init(
      id: id, request: request, state: .failed, cause: error.cause, error: "\(file): \(error.sentence)",
      finishedAt: now.milliseconds,
      messages: parts.map { part in
        var own = part.own
        if own.row == row {
          own.state = .failed
          own.cause = error.cause
          own.error = error.sentence
        } else if !own.state.isFinal {
          own.state = .cancelled
        }
        return Message(own, part.photo)
      })
  }
}

extension RequestEnd.Message {
  fileprivate init(_ own: MessageRow, _ photo: PhotoRow?) {
    let isSent = own.state == .sent
    self.init(
      message: own.message.text, state: own.state, cause: isSent ? nil : own.cause, error: isSent ? nil : own.error,
      attempts: own.attempts, sentAt: own.sentAt?.milliseconds, remote: own.remote,
      photo: isSent ? photo.map { RequestEnd.Photo($0) } : nil)
  }
}

extension RequestEnd.Photo {
  fileprivate init(_ row: PhotoRow) {
    self.init(
      format: row.format, originalBytes: row.originalBytes, originalWidth: row.originalWidth,
      originalHeight: row.originalHeight, bytes: row.bytes, width: row.width, height: row.height, digest: row.digest,
      url: row.url, attachment: row.attachment)
  }
}
