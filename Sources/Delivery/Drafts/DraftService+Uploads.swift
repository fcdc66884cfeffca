import Ledgers
import Logging
import Messages

/// Uploads ahead of Send.
extension DraftService {
  func startAhead() async throws {
    guard uploadsAhead else { return }
    let now = Timestamp.now()
    let ahead = try await ledger.draftPhotos(limit: Self.mostAhead, areUploadedLeftOut: true)
    if ahead.isEmpty { failures = [:] }
    for (photo, nextAttempt) in ahead where uploads[photo.message] == nil && !isStopping.isSet {
      // An attempt that is years away was set with another clock.
      if let wait = nextAttempt?.seconds(since: now), wait > 0, wait < 86_400 {
        mailbox.bell.ring(in: wait)
      } else {
        uploads[photo.message] = Task { await upload(photo) }
      }
    }
  }

  private func upload(_ photo: QueuedMessage) async {
    do {
      _ = try await photos.uploaded(photo, ahead: true)
      failures[photo.message] = nil
    } catch let failure as StepError {
      do { try await settle(photo, failure) } catch { await pause(error) }
    } catch is CancellationError {
      failures[photo.message] = nil
    } catch {
      await pause(error)
    }
    uploads[photo.message] = nil
    mailbox.bell.ring()
  }

  private func pause(_ error: any Error) async {
    log.error("the ledger failed; a draft waits", metadata: ["error": "\(error)"])
    try? await Task.sleep(for: .seconds(1))
  }

  private func settle(_ photo: QueuedMessage, _ failure: StepError) async throws {
    let error = failure.error
    let attempt = (failures[photo.message] ?? 0) + 1
    var wait: Double? = settings.delay(after: error, of: failure.destination, attempt: attempt)
    if error.cause == .photoChanged {
      // A changed photo is read again.
      looks.readAgain(photo.droppedAs)
      mailbox.post(renamed: photo.droppedAs)
    } else if error.cause.disposition == .fail {
      wait = nil
    }
    if !failure.wasTried || failure.destination != nil && error.cause.isOfTheLine {
      wait = settings.probe.seconds
    }
    let due = wait.map { Timestamp.now().advanced(seconds: $0) }
    // After Send, its conversation's worker tries it again and reports the error.
    guard try await ledger.postponeDraftPhoto(photo, error: error, until: due) else { return }
    failures[photo.message] = wait == nil ? nil : attempt
    guard failure.wasTried else { return }
    if let destination = failure.destination {
      try await circuits.failed(destination, error, conversation: photo.conversationRow)
    }
    log.warning(
      wait == nil ? "a draft's photo cannot be sent" : "a draft's photo waits",
      metadata: [
        "request": "\(photo.request)", "step": "\(failure.step.rawValue)", "cause": "\(error.cause.rawValue)",
        "error": "\(photo.file): \(error.sentence)",
      ])
  }
}
