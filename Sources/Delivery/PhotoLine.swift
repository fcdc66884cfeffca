import Digests
import DurableFiles
import Ledgers
import Logging
import Messages
import Photos
import Seals
import Spooling
import Stores

/// Prepares, seals and uploads photos, ahead of their turn to be published, and holds what opens them in memory until
/// then. Nothing of a key reaches the disk here.
actor PhotoLine {
  private let ledger: Ledger
  private let files: RequestFiles
  private let preparer: any PhotoPreparer
  private let destinations: Destinations
  private let circuits: Circuits
  private let slots: Slots
  private let log: Logger
  private var running: [MessageID: Task<UploadedPhoto, any Error>] = [:]
  private let uploading = UploadProgress()

  /// Photos whose keys are held for conversations that wait; beyond it they are given up and uploaded again later.
  private static let mostHeld = 4096

  init(
    ledger: Ledger, files: RequestFiles, preparer: any PhotoPreparer, destinations: Destinations, circuits: Circuits,
    inMemory: Int, log: Logger
  ) {
    self.ledger = ledger
    self.files = files
    self.preparer = preparer
    self.destinations = destinations
    self.circuits = circuits
    self.log = log
    slots = Slots(inMemory)
  }

  /// By message: how far its upload has come, 0 to 1.
  nonisolated var progress: [MessageID: Double] { uploading.all }

  /// Whether the photo of `message` is on its way or stored, with its keys at hand.
  func holds(_ message: MessageID) -> Bool { running[message] != nil }

  /// Sets the photo of `message` on its way, unless it is already.
  func start(_ message: QueuedMessage) {
    guard running[message.message] == nil else { return }
    running[message.message] = Task { try await slots.with { try await self.bring(message) } }
  }

  /// Waits until the photo of `message` is in its store. A failed one starts again with the next call.
  func uploaded(_ message: QueuedMessage) async throws -> UploadedPhoto {
    start(message)
    guard let task = running[message.message] else { throw CancellationError() }
    do {
      return try await task.value
    } catch {
      running[message.message] = nil
      throw error
    }
  }

  /// Lets go of a message that was published: its keys are not needed here any more.
  func forget(_ message: MessageID) { running[message] = nil }

  /// Gives messages up: stops what is on its way, waits until it has stopped, and leaves their uploads to be deleted.
  func discard(_ messages: [MessageID]) async throws {
    let tasks = messages.compactMap { message in running.removeValue(forKey: message).map { (message, $0) } }
    for (_, task) in tasks { task.cancel() }
    for (_, task) in tasks { _ = await task.result }
    if !tasks.isEmpty { try await ledger.abandonUploads(of: tasks.map(\.0)) }
  }

  /// Gives up the photos of a conversation that has to wait, when too many are held already.
  func trim(_ messages: [QueuedMessage]) async throws {
    if running.count > Self.mostHeld { try await discard(messages.map(\.message)) }
  }

  /// Stops everything that is on its way. The next start finds and deletes what is left of it.
  func stop() async {
    for task in running.values { task.cancel() }
    for task in running.values { _ = await task.result }
    running = [:]
  }

  // MARK: The way of one photo

  private nonisolated func bring(_ message: QueuedMessage) async throws -> UploadedPhoto {
    let route = destinations.route(for: message.conversation)
    // Asked before the work is done that an open circuit would make vain.
    if let obstacle = await circuits.obstacle(to: route.store.name) {
      throw StepError(step: .upload, destination: route.store.name, error: obstacle, wasTried: false)
    }
    guard try await ledger.beginPreparing(message) else { throw CancellationError() }
    let prepared = try await atStep(.prepare) {
      let prepared = try await preparer.prepare(files.photo(of: message))
      try await cache(prepared, of: message)
      return prepared
    }
    let sealed = try await atStep(.prepare) { try route.seal.seal(photoFile(prepared)) }
    let row = row(of: prepared, of: message)
    log.info(
      "prepared",
      metadata: [
        "request": "\(message.request)", "message": "\(message.message)", "bytes": "\(row.bytes)",
        "from": "\(row.originalBytes)", "size": "\(row.width)x\(row.height)",
      ])
    try Task.checkCancellation()
    let uploaded = try await atStep(.upload, route.store.name) {
      try await upload(sealed, row: row, of: message, to: route.store)
    }
    try await circuits.succeeded(route.store.name)
    log.info(
      "uploaded",
      metadata: [
        "request": "\(message.request)", "message": "\(message.message)", "bytes": "\(sealed.bytes.count)",
        "store": "\(route.store.name)",
      ])
    return uploaded
  }

  private nonisolated func upload(
    _ sealed: SealedPhoto, row: PhotoRow, of message: QueuedMessage, to store: any Store
  ) async throws -> UploadedPhoto {
    let origin = ObjectOrigin(
      digest: sealed.digest, inbox: message.inbox, conversation: message.conversation, message: message.message,
      isRepeated: try await ledger.hasUpload(of: message.message))
    let object = store.objectName(origin)
    guard try await ledger.beginUploading(message, photo: row, store: store.name, object: object.text, at: .now())
    else { throw CancellationError() }
    defer { uploading.end(message.message) }
    do {
      let url = try await store.put(object, sealed.bytes, contentType: sealed.contentType) { [uploading] in
        uploading.set($0, of: message.message)
      }
      guard try await ledger.endUploading(message) else { throw CancellationError() }
      return UploadedPhoto(object: object, url: url, sealed: sealed.facts)
    } catch {
      // The keys end here, so that nobody can open what may have been stored.
      try await ledger.abandonUploads(of: [message.message])
      throw error
    }
  }

  private nonisolated func cache(_ prepared: PreparedPhoto, of message: QueuedMessage) async throws {
    let cache = PhotoCache(files.spool)
    try await files.pool.run {
      do {
        try cache.keep(
          original: prepared.jpeg, thumbnail: prepared.thumbnail, blurred: prepared.blurred, inbox: message.inbox,
          conversation: message.conversation, message: message.message)
      } catch let error as FileError {
        throw DeliveryError(error.isOutOfSpace ? .localStorageFull : .localStorageError, error.description)
      }
    }
  }

  private nonisolated func photoFile(_ prepared: PreparedPhoto) -> PhotoFile {
    PhotoFile(
      bytes: prepared.jpeg, filename: "photo.jpg", mimeType: "image/jpeg", width: prepared.width,
      height: prepared.height, blurhash: prepared.blurhash)
  }

  private nonisolated func row(of prepared: PreparedPhoto, of message: QueuedMessage) -> PhotoRow {
    PhotoRow(
      format: prepared.original.format.rawValue, originalBytes: prepared.original.bytes,
      originalWidth: prepared.original.width, originalHeight: prepared.original.height, bytes: prepared.jpeg.count,
      width: prepared.width, height: prepared.height, digest: SHA256Digest(of: prepared.jpeg).hex,
      path: PhotoCache.path(inbox: message.inbox, conversation: message.conversation, message: message.message),
      thumbnailBytes: prepared.thumbnail.count + prepared.blurred.count)
  }

  /// Says at which step an error happened.
  private nonisolated func atStep<Result: Sendable>(
    _ step: StepError.Step, _ destination: String? = nil, _ body: () async throws -> Result
  ) async throws -> Result {
    do {
      return try await body()
    } catch let error as DeliveryError {
      // Whoever cancelled the work knows what that means for the message.
      if error.cause == .cancelled { throw CancellationError() }
      throw StepError(step: step, destination: destination, error: error)
    }
  }
}
