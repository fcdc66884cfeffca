import Clusters
import Digests
import Ledgers
import Messages
import Seals

/// Passes orders about relayed requests to their owners, as records of their partitions.
struct ClusterOrders: Sendable {
  let link: ClusterLink
  let ledger: Ledger
  /// How long a command waits for the owner's answer.
  private static let patience = Duration.seconds(10)

  /// Asks the owner to cancel a request, and waits for its answer. nil if the request is not relayed.
  func cancel(_ name: String) async throws -> Cancellation? {
    guard let request = try await ledger.relayed(name) else { return nil }
    let id = RecordID(host: link.host, request: request.request, acceptedAt: request.acceptedAt)
    try await append(.cancel(request: request.request, id: id), for: request.conversation)
    let end = ContinuousClock.now + Self.patience
    while ContinuousClock.now < end {
      if let (state, published) = try await ledger.end(of: request.row) {
        guard state == .cancelled else { return .tooLate(state) }
        return published.isEmpty ? .cancelled : .partly(published: published)
      }
      try await Task.sleep(for: .milliseconds(20))
    }
    return .asked
  }

  /// Has the owner cancel all relayed requests of a conversation, without waiting for its answer.
  func cancelAll(in conversation: ConversationID) async throws {
    var last: Int64 = 0
    while true {
      let page = try await ledger.relayed(after: last, before: Timestamp(milliseconds: .max), limit: 256)
      guard let end = page.last?.row else { return }
      for request in page where request.conversation == conversation {
        let id = RecordID(host: link.host, request: request.request, acceptedAt: request.acceptedAt)
        try await append(.cancel(request: request.request, id: id), for: conversation)
      }
      last = end
    }
  }

  /// Stops or resumes publishing in a conversation, on whatever host owns it.
  func setHeld(_ isHeld: Bool, _ conversation: ConversationID) async throws {
    try await append(
      isHeld ? .hold(conversation: conversation.text) : .release(conversation: conversation.text), for: conversation)
  }

  /// Has the owners of this host's relayed requests try everything now.
  func flush() async throws {
    let conversations = try await ledger.relayedConversations()
    let partitions = Dictionary(conversations.map { (Partition(of: $0), $0) }) { first, _ in first }
    try await withThrowingTaskGroup(of: Void.self) { group in
      for conversation in partitions.values { group.addTask { try await append(.flush, for: conversation) } }
      try await group.waitForAll()
    }
  }

  /// Appends an order once. After a lost answer it is appended again under its id.
  private func append(_ order: RecordContents, for conversation: ConversationID) async throws {
    guard let id = RecordID(try RandomBytes.make(16).hex) else { return }
    let record = try link.seal.record(order, as: id)
    var failure = QueueError.unavailable("it was not asked")
    for _ in 0..<3 {
      do throws(QueueError) {
        _ = try await link.queue.append(record, as: id, to: Partition(of: conversation))
        return
      } catch {
        failure = error
        guard case .doubtful = error else { break }
      }
    }
    throw DeliveryError(.unreachable, "the cluster cannot be asked now: \(failure); try again")
  }
}
