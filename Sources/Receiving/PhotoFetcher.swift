import Blocking
import Digests
import DurableFiles
import Foundation
import HTTP
import Ledgers
import Logging
import Messages
import Photos
import Settings
import Signalling
import Spooling

/// Brings an announced photo into the cache: fetches, verifies, decrypts, decodes and stores it. Order: the object is
/// in `incoming/cur/`; the files in the cache are written durably; the ledger says `downloaded` if they are there; the
/// object is removed. After a crash in between the download resumes, and the files are written again. A photo that the
/// ledger does not call downloaded is shown to nobody.
package struct PhotoFetcher: Sendable {
  private let spool: Spool
  private let incoming: IncomingSpool
  private let ledger: Ledger
  private let plan: @Sendable () -> ReceivingPlan
  private let pool: BlockingPool
  /// Download progress by message, 0 to 1.
  let progress = InForce<[MessageID: Double]>([:])
  /// Attempts to store a photo. An eviction that began before can interfere once.
  private static let keepings = 3

  /// - Parameter plan: the current one.
  package init(spool: Spool, ledger: Ledger, plan: @escaping @Sendable () -> ReceivingPlan) throws {
    self.spool = spool
    incoming = try IncomingSpool(spool)
    self.ledger = ledger
    self.plan = plan
    pool = BlockingPool(label: "receiving", threads: 2)
  }

  /// Fetches one wanted photo once, without a daemon.
  ///
  /// - Throws: as `attempt`.
  package func fetchOnce(_ message: MessageID, _ log: Logger) async throws {
    try await ledger.recoverReceived()
    guard let wanted = try await ledger.beginDownload(of: message, at: .now()) else { return }
    _ = try await attempt(wanted, log)
  }

  /// Fetches a photo whose download has begun, and records the result.
  ///
  /// - Returns: whether it is in the cache; false if its conversation was purged.
  /// - Throws: the recorded `DeliveryError`; `CancellationError` after an interruption; errors of the ledger.
  func attempt(_ wanted: WantedPhoto, _ log: Logger) async throws -> Bool {
    let begin = ContinuousClock.now
    var metadata: Logger.Metadata {
      [
        "message": "\(wanted.message)", "step": "fetch", "attempt": "\(wanted.attempt)",
        "seconds": "\(Self.text(begin.duration(to: .now) / .seconds(1)))",
      ]
    }
    do {
      guard let photo = try await fetch(wanted) else { return false }
      let facts: Logger.Metadata = [
        "bytes": "\(photo.bytes)", "from": "\(photo.originalBytes)", "size": "\(photo.width)x\(photo.height)",
      ]
      log.info("downloaded", metadata: metadata.merging(facts) { $1 })
      return true
    } catch let error as DeliveryError where error.cause != .cancelled {
      try await record(error, of: wanted, metadata, log)
      throw error
    } catch  where error is DeliveryError || error is CancellationError {
      try await ledger.postponeDownload(of: wanted.message, error: nil, until: nil)
      throw CancellationError()
    }
  }

  private func record(
    _ error: DeliveryError, of wanted: WantedPhoto, _ metadata: Logger.Metadata, _ log: Logger
  ) async throws {
    let now = Timestamp.now()
    var metadata = metadata
    metadata["cause"] = "\(error.cause.rawValue)"
    metadata["error"] = "\(escaped(error.sentence))"
    if let wait = plan().settings.wait(after: error, wanted: wanted, now: now) {
      metadata["wait"] = "\(Self.text(wait))"
      log.warning("a photo waits", metadata: metadata)
      try await ledger.postponeDownload(of: wanted.message, error: error, until: now.advanced(seconds: wait))
    } else {
      log.warning("a photo cannot be had", metadata: metadata)
      try await pool.run { [incoming] in try incoming.cur.removeTree(wanted.message.text) }
      try await ledger.failDownload(of: wanted.message, error: error)
    }
  }

  private static func text(_ seconds: Double) -> String { String(format: "%.3f", seconds) }

  /// - Returns: the photo in the cache; nil if its conversation was purged.
  private func fetch(_ wanted: WantedPhoto) async throws -> PhotoRow? {
    let plan = plan()
    let part = try await onDisk { [incoming] in
      try PartialObject(wanted.message, of: wanted.conversation, in: incoming)
    }
    let photo = try await opened(wanted, part, plan)
    let prepared = try await plan.preparer.prepare(PhotoBytes(photo))
    try Task.checkCancellation()
    let row = row(of: prepared, of: wanted)
    let end = try await keep(prepared, row, of: wanted, remoteSeconds: plan.settings.cache.remote.seconds)
    try await onDisk { [cache = PhotoCache(spool)] in
      try part.remove()
      if end == .unknown { try cache.discard(wanted.place) }
    }
    return end == .kept ? row : nil
  }

  /// Writes a photo into the cache and the ledger; again if an eviction of the former copy interfered.
  private func keep(
    _ prepared: PreparedPhoto, _ row: PhotoRow, of wanted: WantedPhoto, remoteSeconds: Double
  ) async throws -> DownloadEnd {
    let cache = PhotoCache(spool)
    for _ in 0..<Self.keepings {
      try await onDisk {
        try cache.keep(
          original: prepared.jpeg, thumbnail: prepared.thumbnail, blurred: prepared.blurred, at: wanted.place,
          note: wanted.note)
      }
      let now = Timestamp.now()
      let end = try await faultsOfDisk {
        try await ledger.endDownload(
          of: wanted, as: row, file: wanted.photo.safeFilename,
          remoteUntil: now.advanced(seconds: remoteSeconds), at: now,
          isThere: { try cache.isWhole(wanted.place, hasNote: wanted.note != nil) })
      }
      if end != .evicted { return end }
    }
    throw DeliveryError(
      .localStorageError,
      "a program removes the photo from \(spool.path)/photos as soon as it is written; find and stop that program")
  }

  // MARK: The object

  private func opened(_ wanted: WantedPhoto, _ part: PartialObject, _ plan: ReceivingPlan) async throws -> [UInt8] {
    let (photo, settings) = (wanted.photo, plan.settings)
    func limited(_ bytes: [UInt8]) throws(DeliveryError) -> [UInt8] {
      if bytes.count <= settings.receivedBytes { return bytes }
      throw DeliveryError(
        .tooLarge, "the photo has \(bytes.count) bytes; the limit is \(settings.receivedBytes) (receiving.bytes)")
    }
    if wanted.isOwn,
      let object = try await onDisk({
        try plan.objects.object(at: photo.url, limit: settings.receivedObjectBytes)
      })
    {
      return try limited(photo.open(object))
    }
    let former = try await onDisk { try part.contents(limit: settings.receivedObjectBytes) ?? [] }
    // The download was complete before the process died.
    if photo.hasDigest, !former.isEmpty, let whole = try? photo.open(former) { return try limited(whole) }
    let download = Download(
      client: plan.client, settings: settings, homeserver: plan.homeservers(wanted.conversation)
    ) { [progress] fraction in progress.change { $0[wanted.message] = fraction } }
    defer { progress.change { $0[wanted.message] = nil } }
    try await download.fetch(photo, into: part)
    let object = try await onDisk { try part.contents(limit: settings.receivedObjectBytes) ?? [] }
    do { return try limited(photo.open(object)) } catch {
      try await onDisk { try part.clear() }
      // The resumed part may be damaged after a crash.
      if error.cause == .digestMismatch, !former.isEmpty {
        throw DeliveryError(.network, "the partial download was damaged here; it starts again")
      }
      throw error
    }
  }

  private func row(of prepared: PreparedPhoto, of wanted: WantedPhoto) -> PhotoRow {
    PhotoRow(
      format: prepared.original.format.rawValue, originalBytes: prepared.original.bytes,
      originalWidth: prepared.original.width, originalHeight: prepared.original.height, bytes: prepared.jpeg.count,
      width: prepared.width, height: prepared.height, digest: SHA256Digest(of: prepared.jpeg).hex,
      path: wanted.place.path, thumbnailBytes: prepared.thumbnail.count + prepared.blurred.count)
  }

  private func onDisk<Result: Sendable>(_ work: @escaping @Sendable () throws -> Result) async throws -> Result {
    try await faultsOfDisk { try await pool.run(work) }
  }

  private func faultsOfDisk<Result: Sendable>(_ work: () async throws -> Result) async throws -> Result {
    do { return try await work() } catch let error as FileError {
      throw DeliveryError(storing: error)
    }
  }
}

extension WantedPhoto {
  /// The note for the cache; nil for a sent photo, which is never hidden.
  fileprivate var note: ReceivedNote? {
    if self.isOwn { return nil }
    return ReceivedNote(
      inbox: self.inbox, conversation: conversation, remote: self.remote, position: self.position, sender: self.sender,
      digest: self.digest, receivedAt: self.receivedAt)
  }
}

extension Settings {
  /// Seconds until the next attempt, if there is one.
  func wait(after error: DeliveryError, wanted: WantedPhoto, now: Timestamp) -> Double? {
    let (age, lifetime) = (now.seconds(since: wanted.wantedAt), receiving.lifetime.seconds)
    switch error.cause.disposition {
    case .fail: return nil
    case .hold: return age < lifetime ? delivery.mending.seconds : nil
    case .retry:
      // The last attempt is at the end of the photo's lifetime, whatever a server asks for.
      return age < lifetime
        ? min(delivery.backoff.delay(after: error, attempt: wanted.attempt, random: .random(in: 0...1)), lifetime - age)
        : nil
    }
  }
}
