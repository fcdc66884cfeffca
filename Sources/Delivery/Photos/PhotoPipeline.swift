import Digests
import DurableFiles
import Ledgers
import Logging
import Messages
import Networks
import Photos
import Seals
import Signalling
import Spooling
import Stores

/// Prepares, seals and uploads photos before their turn, and holds their keys in memory until they are published. No
/// key reaches the disk here.
actor PhotoPipeline: HasCore {
  /// The processing of one photo, or its undoing. Jobs of a message run one after the other.
  private struct PhotoJob {
    let number: Int
    /// The photo in progress; nil during undoing.
    let source: PhotoSource?
    /// Begun for a draft.
    let isAhead: Bool
    /// The route of the upload; nil during undoing.
    let route: RouteKey?
    let task: Task<UploadedPhoto, any Error>
  }

  nonisolated let core: DeliveryCore
  private let files: RequestFiles
  private let circuits: Circuits
  private let slots: Slots
  private var running: [MessageID: PhotoJob] = [:]
  private let uploading = InForce<[MessageID: Double]>([:])

  /// Photos whose keys are held for waiting conversations. Beyond it they are dropped and uploaded again later.
  private static let mostHeld = 4096

  init(_ core: DeliveryCore, files: RequestFiles, circuits: Circuits) {
    self.core = core
    self.files = files
    self.circuits = circuits
    slots = Slots(core.plan.delivery.uploads)
  }

  /// Upload progress by message, 0 to 1.
  nonisolated var progress: [MessageID: Double] { uploading.now }

  /// Whether the photo of `message` is in progress or stored, with its keys in memory.
  func holds(_ message: MessageID) -> Bool { running[message]?.source != nil }

  /// Applies the plan's number of uploads.
  nonisolated func followPlan() { slots.resize(to: plan.delivery.uploads) }

  /// Starts processing the photo of `message`, unless it is in progress. A former file of the message, or an upload for
  /// a route that the plan no longer has, is stopped and erased first.
  ///
  /// - Parameter ahead: for a draft. After Send, its work continues as the request's.
  func start(_ message: QueuedMessage, ahead: Bool = false) {
    let former = running[message.message]
    let plan = plan.now
    let destinations = plan.destinations
    let (route, address) = (try? destinations.way(of: message)) ?? destinations.way(of: message.conversation)
    if let former, former.source == message.source, former.route == route.key {
      if former.isAhead && !ahead { slots.hurry(former.number) }
      return
    }
    let number = slots.announce(ahead: ahead, store: route.store.name, owner: message.conversationRow)
    let task = Task {
      defer { slots.retire(number) }
      if let former {
        try await self.end(former, of: message.message, erasing: former.source)
        signals.sweeper.ring()
      }
      do {
        return try await slots.with(number) {
          try await self.process(message, on: route, to: address, preparer: plan.preparer)
        }
      } catch {
        // A temporary error is outdated when the photo's turn comes.
        if (error as? StepError)?.canPass == true { self.forget(message.message, begunAs: number) }
        throw error
      }
    }
    running[message.message] = PhotoJob(
      number: number, source: message.source, isAhead: ahead, route: route.key, task: task)
  }

  /// Waits until the photo of `message` is stored. After a failure the next call starts again; after a draft's failure,
  /// Send starts again at once. Returns the photo, and the key of its route.
  @discardableResult
  func uploaded(_ message: QueuedMessage, ahead: Bool = false) async throws -> (photo: UploadedPhoto, route: RouteKey?)
  {
    while true {
      start(message, ahead: ahead)
      guard let job = running[message.message] else { throw CancellationError() }
      do {
        return (try await job.task.value, job.route)
      } catch {
        forget(message.message, begunAs: job.number)
        if job.isAhead && !ahead && !(error is CancellationError) { continue }
        throw error
      }
    }
  }

  /// Drops the keys of a published message.
  func forget(_ message: MessageID) { running[message] = nil }

  /// Drops messages: stops their work, waits for it, and abandons their uploads.
  func discard(_ messages: [MessageID]) async throws {
    for undoing in messages.filter({ running[$0] != nil }).map({ undo($0) }) { try await undoing.value }
  }

  /// Drops a message that will not be sent, and removes its photo from the cache. Another photo of the message in
  /// progress is kept: its start has done this.
  func erase(_ photo: SupersededPhoto) async throws {
    if let job = running[photo.message], job.source != photo.source { return }
    try await undo(photo.message, erasing: photo.source).value
  }

  /// Begins to erase replaced photos.
  nonisolated func eraseLater(_ superseded: [SupersededPhoto]) {
    guard !superseded.isEmpty else { return }
    Task {
      for photo in superseded {
        do { try await erase(photo) } catch {
          // The next start abandons its upload.
          log.error("a replaced photo is left", metadata: ["message": "\(photo.message)", "error": "\(error)"])
        }
      }
      signals.sweeper.ring()
    }
  }

  /// Drops the photos of a waiting conversation if too many are held.
  func trim(_ messages: [QueuedMessage]) async throws {
    if running.count > Self.mostHeld { try await discard(messages.map(\.message)) }
  }

  /// Stops all work. The next start deletes its leftovers.
  func stop() async {
    for job in running.values { job.task.cancel() }
    for job in running.values { _ = await job.task.result }
    running = [:]
  }

  // MARK: Undoing

  /// Stops and undoes the work on a message's photo; a new start waits for that.
  private func undo(_ message: MessageID, erasing source: PhotoSource? = nil) -> Task<Void, any Error> {
    let former = running[message]
    let number = slots.announce(ahead: false)
    let undoing = Task {
      defer { slots.retire(number) }
      try await self.end(former, of: message, erasing: source)
    }
    let job = PhotoJob(
      number: number, source: nil, isAhead: false, route: nil,
      task: Task {
        try await undoing.value
        throw CancellationError()
      })
    running[message] = job
    return Task {
      defer { forget(message, begunAs: number) }
      try await undoing.value
    }
  }

  private func forget(_ message: MessageID, begunAs number: Int) {
    if running[message]?.number == number { running[message] = nil }
  }

  private nonisolated func end(_ former: PhotoJob?, of message: MessageID, erasing source: PhotoSource?) async throws {
    if let former {
      former.task.cancel()
      _ = await former.task.result
    }
    try await ledger.abandonUploads(of: [message])
    guard let source else { return }
    let place = PhotoPlace(inbox: source.inbox, conversation: source.conversation, message: message)
    let photo = try await ledger.forgetPhoto(of: message)
    // Files are written before the row, so a crash may have left files without one. With a row they are needed.
    let mayHaveFiles = try await !ledger.hasPhoto(of: message)
    try await files.pool.run { [files] in
      let cache = PhotoCache(files.spool)
      if let photo { try cache.discard(photo) }
      if mayHaveFiles { try cache.discard(place) }
    }
  }

  // MARK: Processing one photo

  private nonisolated func process(
    _ message: QueuedMessage, on route: Route, to address: Address, preparer: any PhotoPreparer
  ) async throws -> UploadedPhoto {
    try await admit(address, on: route)
    // Asked before work that an open circuit would waste.
    if let obstacle = await circuits.obstacle(to: route.store.name, for: message.conversationRow) {
      throw StepError(step: .upload, destination: route.store.name, error: obstacle, wasTried: false)
    }
    let seal = try await seal(of: message, for: address, on: route)
    guard try await ledger.beginPreparing(message) else { throw CancellationError() }
    let prepared = try await atStep(.prepare) {
      // The copy belongs to the host that accepted it.
      if let owned = files.owned { return try await owned.photo(of: message) }
      let prepared = try await prepare(message, in: files, by: preparer)
      try await cache(prepared, of: message)
      return prepared
    }
    let file = PhotoFile(
      bytes: prepared.jpeg, filename: "photo.jpg", mimeType: "image/jpeg", width: prepared.width,
      height: prepared.height, blurhash: prepared.blurhash)
    let sealed = try await atStep(.prepare) { try seal.seal(file) }
    let row = row(of: prepared, of: message)
    try Task.checkCancellation()
    // The conversation may have changed during preparation.
    try await admit(address, on: route)
    let begin = ContinuousClock.now
    let uploaded = try await atStep(.upload, route.store.name) {
      try await upload(sealed, row: row, of: message, to: route.store)
    }
    try await circuits.succeeded(route.store.name, for: message.conversationRow)
    let seconds = times.done(.upload, since: begin)
    log.info(
      "uploaded",
      metadata: [
        "request": "\(message.request)", "message": "\(message.message)", "step": "upload",
        "bytes": "\(sealed.bytes.count)", "store": "\(route.store.name)",
        "seconds": "\(seconds)",
      ])
    return uploaded
  }

  /// Checks that the photo can be published in its conversation, before anything leaves this machine.
  private nonisolated func admit(_ address: Address, on route: Route) async throws {
    try await ask(route.network) { network throws(DeliveryError) in
      try await network.admit(address, sealedWith: route.key.seal)
    }
  }

  private nonisolated func seal(
    of message: QueuedMessage, for address: Address, on route: Route
  ) async throws -> any Seal {
    guard message.kind == .profile else { return route.seal }
    return try await ask(route.network) { network throws(DeliveryError) in
      try await network.profileSeal(for: address)
    } ?? route.seal
  }

  /// Asks the network before an upload.
  private nonisolated func ask<Answer: Sendable>(
    _ network: any Network, _ question: (any Network) async throws(DeliveryError) -> Answer
  ) async throws -> Answer {
    do { return try await question(network) } catch {
      if error.cause == .cancelled { throw CancellationError() }
      // While the network is left alone, a failure here is not a probe.
      let wasTried = await !circuits.isLeftAlone(network.name)
      throw StepError(step: .upload, destination: network.name, error: error, wasTried: wasTried)
    }
  }

  private nonisolated func upload(
    _ sealed: SealedPhoto, row: PhotoRow, of message: QueuedMessage, to store: any Store
  ) async throws -> UploadedPhoto {
    let origin = ObjectOrigin(
      digest: sealed.digest, inbox: message.inbox, conversation: message.conversation, message: message.message,
      isRepeated: try await ledger.hasUpload(of: message.message))
    let object = store.objectName(origin)
    let isBegun = try await ledger.beginUploading(
      message, photo: row, store: store.name, object: object.text, isSealed: sealed.digest.hex != row.digest, at: .now()
    )
    guard isBegun else { throw CancellationError() }
    log.debug(
      "uploading",
      metadata: [
        "request": "\(message.request)", "message": "\(message.message)", "bytes": "\(sealed.bytes.count)",
        "store": "\(store.name)",
      ])
    defer { uploading.change { $0[message.message] = nil } }
    do {
      let url = try await store.put(object, sealed.bytes, contentType: sealed.contentType) { [uploading] fraction in
        uploading.change { $0[message.message] = fraction }
      }
      guard try await ledger.endUploading(message) else { throw CancellationError() }
      return UploadedPhoto(object: object, url: url, sealed: sealed.facts)
    } catch {
      // The keys are dropped here, so nobody can open a stored object.
      try await ledger.abandonUploads(of: [message.message])
      throw error
    }
  }

  private nonisolated func cache(_ prepared: PreparedPhoto, of message: QueuedMessage) async throws {
    let cache = PhotoCache(files.spool)
    try await files.pool.run { [spool = files.spool] in
      do {
        guard try Reserve(spool).hasRoom(for: prepared.jpeg.count) else {
          throw DeliveryError(.localStorageFull, SpoolError.full(spool.path).description)
        }
        try cache.keep(
          original: prepared.jpeg, thumbnail: prepared.thumbnail, blurred: prepared.blurred, at: message.place)
      } catch let error as FileError {
        throw DeliveryError(error.isOutOfSpace ? .localStorageFull : .localStorageError, error.description)
      }
    }
  }

  private nonisolated func row(of prepared: PreparedPhoto, of message: QueuedMessage) -> PhotoRow {
    PhotoRow(
      format: prepared.original.format.rawValue, originalBytes: prepared.original.bytes,
      originalWidth: prepared.original.width, originalHeight: prepared.original.height, bytes: prepared.jpeg.count,
      width: prepared.width, height: prepared.height, digest: SHA256Digest(of: prepared.jpeg).hex,
      path: message.place.path, thumbnailBytes: prepared.thumbnail.count + prepared.blurred.count)
  }

  /// Adds the step to an error.
  private nonisolated func atStep<Result: Sendable>(
    _ step: StepError.Step, _ destination: String? = nil, _ body: () async throws -> Result
  ) async throws -> Result {
    do {
      return try await body()
    } catch let error as DeliveryError {
      // Its canceller handles the message.
      if error.cause == .cancelled { throw CancellationError() }
      throw StepError(step: step, destination: destination, error: error)
    }
  }
}
