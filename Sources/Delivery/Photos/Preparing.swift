import Ledgers
import Messages
import Photos

extension HasCore {
  /// Prepares a photo that this host accepted.
  ///
  /// - Throws: a `DeliveryError`, also if the file is not the accepted one; `CancellationError`.
  func prepare(
    _ message: QueuedMessage, in files: RequestFiles, by preparer: any PhotoPreparer
  ) async throws -> PreparedPhoto {
    log.debug("preparing", metadata: ["request": "\(message.request)", "message": "\(message.message)"])
    let begin = ContinuousClock.now
    let photo = try await preparer.prepare(
      files.photo(of: message), for: message.kind == .profile ? .profile : .message)
    let seconds = times.done(.prepare, since: begin)
    log.info(
      "prepared",
      metadata: [
        "request": "\(message.request)", "message": "\(message.message)", "step": "prepare",
        "bytes": "\(photo.jpeg.count)", "from": "\(photo.original.bytes)", "size": "\(photo.width)x\(photo.height)",
        "seconds": "\(seconds)",
      ])
    return photo
  }
}
