import Ledgers
import Messages

@testable import Delivery

/// Conversations are served: the steps of a worker and of its photos, each a step of the simulation, those of several
/// conversations mixed.
extension Simulation {
  private static let turn = 4

  func serve() async throws {
    if memory.workers.count < 2, memory.workers.isEmpty || random.below(3) == 0 {
      let due = try await ledger.dueConversations(at: now, limit: 8)
      if let conversation = due.first(where: { !memory.serves($0) }) {
        memory.workers.append(Memory.Worker(conversation: conversation))
      }
    }
    guard !memory.workers.isEmpty else { return }
    let index = random.below(memory.workers.count)
    var worker = memory.workers[index]
    let goesOn = try await advance(&worker)
    guard let place = memory.workers.firstIndex(where: { $0.conversation == worker.conversation }) else { return }
    if goesOn { memory.workers[place] = worker } else { memory.workers.remove(at: place) }
  }

  /// - Returns: false when the worker is done.
  private func advance(_ worker: inout Memory.Worker) async throws -> Bool {
    switch worker.next {
    case .look:
      if worker.served >= Self.turn {
        try await ledger.sendToBack(worker.conversation, at: now)
        return false
      }
      let window = try await ledger.head(of: worker.conversation, limit: 5)
      guard let message = window.first, !message.isHeld else { return false }
      if message.isDuplicate {
        _ = try await ledger.decideDuplicate(message, at: now)
        return true
      }
      worker.behind = Array(window.dropFirst().prefix { !$0.isDuplicate })
      worker.served += 1
      worker.next = next(for: message)
    case .find(let message): try await find(message, &worker)
    case .prepare(let message): try await prepare(message, &worker)
    case .put(let message, let object): try await put(message, object, &worker)
    case .endUpload(let message, let object):
      if try await ledger.endUploading(message) {
        memory.held[message.message] = object
        worker.next = .begin(message)
      } else {
        try await ledger.abandonUploads(of: [message.message])
        worker.next = .look
      }
    case .begin(let message): try await begin(message, &worker)
    case .publish(let message, let id):
      if !(worker.begun.isEmpty && worker.sent.isEmpty), random.below(6) == 0 {
        // The time of the run is over, and the network has one still in hand.
        try await commit(&worker)
      } else {
        try await publish(message, id, &worker)
      }
    case .end(let message, let failure): try await end(&worker, message, failure)
    case .settle(let message, let failure):
      worker.next = .look
      return try await settle(message, failure)
    }
    return true
  }

  private func next(for message: QueuedMessage) -> Memory.Step {
    if now.seconds(since: message.acceptedAt) > Self.lifetime {
      return .settle(message, .init(step: "publish", error: DeliveryError(.expired, "too old")))
    }
    if message.state == .publishing || message.reserved != nil { return .find(message) }
    return ready(message)
  }

  private func ready(_ message: QueuedMessage) -> Memory.Step {
    message.kind == .photo && memory.held[message.message] == nil ? .prepare(message) : .begin(message)
  }

  // MARK: A photo

  private func prepare(_ message: QueuedMessage, _ worker: inout Memory.Worker) async throws {
    if let obstacle = obstacle(to: "store") {
      worker.next = .settle(
        message, .init(step: "upload", destination: "store", error: obstacle, wasTried: false))
      return
    }
    guard try await ledger.beginPreparing(message) else {
      worker.next = .look
      return
    }
    if !faults.areOver && random.below(30) == 0 {
      worker.next = .settle(message, .init(step: "prepare", error: DeliveryError(.truncatedImage, "cut")))
      return
    }
    let object = object()
    worker.next = try await beginUpload(message, object) ? .put(message, object: object) : .look
  }

  func beginUpload(_ message: QueuedMessage, _ object: String) async throws -> Bool {
    let photo = PhotoRow(
      format: "jpeg", originalBytes: 9, originalWidth: 1, originalHeight: 1, bytes: 100, width: 1, height: 1,
      digest: "p",
      path: message.message.text, thumbnailBytes: 10)
    return try await ledger.beginUploading(message, photo: photo, store: "store", object: object, at: now)
  }

  private func put(_ message: QueuedMessage, _ object: String, _ worker: inout Memory.Worker) async throws {
    let outcome = faults.outcome("store", &random)
    switch outcome {
    case .done:
      world.objects.insert(object)
      try await succeeded("store", for: message.conversationRow)
      worker.next = .endUpload(message, object: object)
      return
    case .lost: world.objects.insert(object)
    case .failed: break
    }
    // The keys end here.
    try await ledger.abandonUploads(of: [message.message])
    worker.next = .settle(message, .init(step: "upload", destination: "store", error: outcome.error))
  }

  // MARK: Publishing

  private func begin(_ message: QueuedMessage, _ worker: inout Memory.Worker) async throws {
    if let obstacle = obstacle(to: "network") {
      worker.next = .settle(
        message, .init(step: "publish", destination: "network", error: obstacle, wasTried: false))
      return
    }
    let (id, reserved) = identity(of: message)
    if plant == .publishesBeforeCommit, case .lost = faults.outcome("network", &random) {
      // Seen by all, and by the ledger not at all.
      try appear(message, id)
      worker.next = .settle(message, .init(step: "publish", error: DeliveryError(.rejected, "broken")))
      return
    }
    let run = [(message, id: id, reserved: reserved)] + texts(&worker, behind: message)
    let attempts = try await ledger.end(RunEnd(next: run.map { ($0.0, $0.reserved) }), at: now).attempts
    if attempts == [], plant == .ignoresCancel {
      worker.next = .publish(message, id: id)
      return
    }
    // Whoever cancelled it discards its upload.
    begin(attempts.map { run.prefix($0.count) } ?? [], &worker)
  }

  /// What has begun is published, the first at once.
  private func begin(
    _ run: ArraySlice<(QueuedMessage, id: String, reserved: String?)>, _ worker: inout Memory.Worker
  ) {
    worker.begun = run.dropFirst().map { Memory.Begun(message: $0.0, id: $0.id) }
    worker.served += worker.begun.count
    worker.next = run.first.map { .publish($0.0, id: $0.id) } ?? .look
    if let first = run.first { offer(memory.held[first.0.message]) }
  }

  /// Texts behind a message, that can begin together with it or one another. They lose their place in what is behind.
  private func texts(
    _ worker: inout Memory.Worker, behind message: QueuedMessage? = nil
  ) -> [(QueuedMessage, id: String, reserved: String?)] {
    if let message, message.kind != .text { return [] }
    let most = min(random.below(3) + (message == nil ? 1 : 0), Self.turn - worker.served)
    let texts = worker.behind.prefix(max(0, world.network.kind == .reserving ? min(1, most) : most))
      .prefix { $0.kind == .text && $0.state == .pending && $0.reserved == nil }
    worker.behind.removeFirst(texts.count)
    return texts.map { text in
      let (id, reserved) = identity(of: text)
      return (text, id: id, reserved: reserved)
    }
  }

  /// The id under which the network is told of a message, and what of it the ledger is to keep.
  private func identity(of message: QueuedMessage) -> (id: String, reserved: String?) {
    let reserved = world.network.kind == .reserving ? "reserved-\(message.message)-\(object())" : nil
    let id = reserved ?? message.message.text
    return (plant == .forgetsKey ? id + "-\(random.below(1000))" : id, reserved)
  }

  /// The network shows a message to others, or has done so before.
  @discardableResult
  func appear(_ message: QueuedMessage, _ id: String) throws -> SimulatedNetwork.Published {
    let object = memory.held[message.message] ?? (message.kind == .photo ? "none" : nil)
    let (standing, isNew) = world.network.publish(
      id, .init(conversation: message.conversation.text, object: object, at: now))
    note("published \(id)\(isNew ? "" : " again")")
    if isNew { try oracle.appeared(message.message, object: object, stored: world.objects) }
    return standing
  }

  private func publish(_ message: QueuedMessage, _ id: String, _ worker: inout Memory.Worker) async throws {
    let outcome = faults.outcome("network", &random)
    switch outcome {
    case .done:
      let standing = try appear(message, id)
      try await succeeded("network", for: message.conversationRow)
      worker.sent.append(
        (
          message,
          .init(at: standing.at, object: standing.object, remote: world.network.kind == .reserving ? id : nil)
        ))
      // What is behind waits too long, now and then.
      if let next = worker.begun.first, random.below(4) > 0 {
        worker.begun.removeFirst()
        worker.next = .publish(next.message, id: next.id)
      } else {
        worker.next = .end(nil, nil)
      }
      return
    case .lost: try appear(message, id)
    case .failed: break
    }
    note("failed to publish \(id): \(outcome.error.cause.rawValue)")
    if plant == .deletesOffered, let object = memory.held[message.message] {
      world.objects.remove(object)
      try oracle.deleted(object)
    }
    worker.next = .end(message, .init(step: "publish", destination: "network", error: outcome.error))
  }

  /// What may be out already is looked for first.
  private func find(_ message: QueuedMessage, _ worker: inout Memory.Worker) async throws {
    if message.reserved != nil, let obstacle = obstacle(to: "network") {
      worker.next = .settle(
        message, .init(step: "publish", destination: "network", error: obstacle, wasTried: false))
      return
    }
    if case .failed(let error) = faults.outcome("network", &random) {
      worker.next = .settle(message, .init(step: "publish", destination: "network", error: error))
      return
    }
    switch (world.network.kind, message.reserved) {
    case (.reserving, let reserved?):
      // The network keeps what it reserved, with the object that was reserved.
      if let standing = world.network.published[reserved] {
        worker.sent = [(message, .init(at: standing.at, object: standing.object, remote: reserved))]
        worker.next = .end(nil, nil)
      } else {
        try await startAgain(message, &worker)
      }
    case (.searchable, _):
      if let standing = world.network.published[message.message.text] {
        worker.sent = [(message, .init(at: standing.at, object: standing.object, remote: nil))]
        worker.next = .end(nil, nil)
      } else {
        try await startAgain(message, &worker)
      }
    default: worker.next = ready(message)
    }
  }

  private func startAgain(_ message: QueuedMessage, _ worker: inout Memory.Worker) async throws {
    _ = try await ledger.startAgain(message, at: now)
    memory.held[message.message] = nil
    worker.next = .look
  }

  /// Texts behind those that were sent may begin in the same commit.
  private func end(_ worker: inout Memory.Worker, _ failed: QueuedMessage?, _ failure: Memory.Failure?) async throws {
    let isFree = failure == nil && worker.begun.isEmpty && obstacle(to: "network") == nil
    let next = isFree ? texts(&worker) : []
    let attempts = try await commit(&worker, thenBegin: next)
    if let failed, let failure {
      worker.next = .settle(failed, failure)
    } else {
      let run = next.prefix(attempts?.count ?? 0)
      if !run.isEmpty { worker.served += 1 }
      begin(run, &worker)
    }
  }

  /// Commits what was sent and what was not tried.
  @discardableResult
  private func commit(
    _ worker: inout Memory.Worker, thenBegin next: [(QueuedMessage, id: String, reserved: String?)] = []
  ) async throws -> [Int]? {
    let (sent, untried) = (worker.sent, worker.begun)
    worker.sent = []
    worker.begun = []
    // They come before what is behind.
    if !untried.isEmpty { worker.behind = [] }
    let end = try await ledger.end(
      RunEnd(
        sent: sent.map { ($0.message, published($0.publication)) }, untried: untried.map(\.message),
        next: next.map { ($0.0, $0.reserved) }),
      at: now)
    for (message, _) in sent {
      memory.held[message.message] = nil
      note("sent \(message.message)")
    }
    for state in end.finished { note("a request is \(state.rawValue)") }
    return end.attempts
  }

  private func published(_ publication: Memory.Publication) -> Published {
    let attachment = publication.object.map {
      Attachment(
        url: "https://example.org/\($0)", contentDigest: $0, secret: nil, salt: nil, nonce: nil, scheme: "https://",
        contentLength: 1, filename: "photo.jpg", mimeType: "image/jpeg", width: 1, height: 1)
    }
    return Published(at: publication.at, remote: publication.remote, attachment: attachment)
  }
}

extension Faults.Outcome {
  var error: DeliveryError {
    switch self {
    case .done: DeliveryError(.conflict, "none")
    case .failed(let error), .lost(let error): error
    }
  }
}
