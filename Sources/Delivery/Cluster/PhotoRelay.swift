import Clusters
import Ledgers
import Messages

/// Prepares the photos of requests, and stores them in the cluster for their owners: no original leaves this host.
struct PhotoRelay: HasCore, Sendable {
  let core: DeliveryCore
  let link: ClusterLink
  let files: RequestFiles
  /// Shared by all conversations.
  private let slots: Slots

  init(core: DeliveryCore, link: ClusterLink, files: RequestFiles) {
    (self.core, self.link, self.files) = (core, link, files)
    slots = Slots(core.plan.delivery.uploads)
  }

  /// Stores the photos of a request that are not stored yet. Bytes without a record do no harm, so a lost answer puts nothing
  /// in doubt.
  ///
  /// - Throws: `RelayFailure`; `CancellationError`.
  func store(_ request: RelayableRequest, as id: RecordID) async throws {
    slots.resize(to: plan.delivery.uploads)
    try await withThrowingTaskGroup(of: Void.self) { group in
      for message in request.messages where message.kind.hasPhoto {
        let place = slots.announce(ahead: false, owner: message.conversationRow)
        group.addTask {
          defer { slots.retire(place) }
          try await slots.with(place) { try await store(message, as: BlobName(record: id, part: message.position)) }
        }
      }
      try await group.waitForAll()
    }
  }

  private func store(_ message: QueuedMessage, as name: BlobName) async throws {
    do {
      // A store that is away costs no preparation, and a request that was tried before no second one. Bytes under a former
      // secret are replaced.
      if let stored = try await link.bytes.get(name), (try? link.seal.bytes(stored, as: name)) != nil { return }
      let photo = try await prepare(message, in: files, by: plan.now.preparer)
      try await link.bytes.put(link.seal.blob(photo.relayed, as: name), as: name)
    } catch let error as QueueError {
      try Task.checkCancellation()
      throw RelayFailure.store(error)
    } catch let error as DeliveryError {
      if error.cause == .cancelled { throw CancellationError() }
      throw RelayFailure.file(message, .prepare, error)
    }
  }

  /// Removes what is stored of a request that the queue never gets. If that fails, the bytes expire.
  func remove(_ request: RelayableRequest, as id: RecordID) async {
    let photos = request.messages.filter(\.kind.hasPhoto).map(\.position)
    if !photos.isEmpty { try? await link.bytes.remove(photos, of: id) }
  }
}

/// The photos of a conversation's next requests, which are prepared and stored during a run of the relay.
struct PhotosAhead {
  let relay: PhotoRelay
  private var tasks: [RecordID: (request: RelayableRequest, task: Task<Void, any Error>)] = [:]

  init(_ relay: PhotoRelay) { self.relay = relay }

  mutating func start(_ request: RelayableRequest, as id: RecordID) {
    guard tasks[id] == nil else { return }
    tasks[id] = (request, Task { [relay] in try await relay.store(request, as: id) })
  }

  /// Waits until the photos of a request are stored. A temporary error from before its turn is outdated.
  ///
  /// - Throws: `RelayFailure`; `CancellationError`.
  mutating func store(_ request: RelayableRequest, as id: RecordID) async throws {
    if let former = tasks.removeValue(forKey: id)?.task {
      do {
        return try await withTaskCancellationHandler {
          try await former.value
        } onCancel: {
          former.cancel()
        }
      } catch { if (error as? RelayFailure)?.canPass != true { throw error } }
    }
    try await relay.store(request, as: id)
  }

  /// Ends the work for requests that are not among the next ones any more: they were cancelled.
  mutating func keep(_ ids: [RecordID]) async {
    for (id, job) in tasks where !ids.contains(id) {
      tasks[id] = nil
      job.task.cancel()
      _ = await job.task.result
      await relay.remove(job.request, as: id)
    }
  }

  /// Ends all work.
  func end() async {
    for job in tasks.values { job.task.cancel() }
    for job in tasks.values { _ = await job.task.result }
  }
}
