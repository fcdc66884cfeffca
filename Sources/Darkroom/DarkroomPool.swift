import Blocking
import Dispatch
import Foundation
import Messages
import Photos
import Settings
import Synchronization

/// Prepares photos in processes of their own, a limited number at once. A process starts if none is idle. One that
/// crashes, hangs, takes too much memory or sends an invalid answer is replaced, and its photo gets one more attempt in
/// another. A process ends after a number of photos, and after a minute without work.
package final class DarkroomPool: PhotoPreparer {
  package struct Options: Sendable {
    package var program: String
    /// Photos that are prepared at once.
    package var processes: Int
    /// Bytes that a process may map beyond its initial ones.
    package var memory: Int
    /// Seconds of processor time for a photo; the elapsed time may be three times as long.
    package var seconds: Int
    package var limits: PhotoLimits
    package var profileLimits: PhotoLimits
    /// Photos after which a process is replaced.
    package var photosPerProcess = 500
    /// Idle seconds after which a process is ended.
    package var idleSeconds = 60

    package init(program: String, settings: Settings = Settings()) {
      let photo = settings.photo
      self.program = program
      processes = photo.threads > 0 ? photo.threads : ProcessInfo.processInfo.activeProcessorCount
      memory = photo.memory
      seconds = Int(photo.time.seconds.rounded(.up))
      limits = photo.limits
      // An eighth is left for the photo itself and for processing the decoded picture.
      limits.decoderBytes = photo.memory / 8 * 7
      profileLimits = limits
      profileLimits.longestSide = settings.profile.side
      profileLimits.squareSide = settings.profile.side
      profileLimits.outputBytes = settings.profile.bytes
      profileLimits.thumbnailSide = min(limits.thumbnailSide, settings.profile.side)
    }
  }

  private struct Idle {
    let process: LockedProcess
    let photos: Int
    let since: DispatchTime
  }

  private struct State {
    /// The most recently used one is last, and is used next.
    var idle: [Idle] = []
    var isTidying = false
  }

  private let options: Options
  private let threads: BlockingPool
  private let state = Mutex(State())

  package var processes: Int { options.processes }

  package init(_ options: Options) {
    self.options = options
    threads = BlockingPool(label: "darkroom", threads: options.processes)
  }

  package func prepare(_ photo: PhotoBytes, for use: PhotoUse) async throws(DeliveryError) -> PreparedPhoto {
    let limits = use == .profile ? options.profileLimits : options.limits
    let turn = Turn()
    do {
      return try await withTaskCancellationHandler {
        try await threads.run { try self.prepare(photo, limits, turn) }
      } onCancel: {
        turn.cancel()
      }
    } catch let error as DeliveryError {
      throw error
    } catch {
      // The threads throw the error of their work, which is a DeliveryError.
      throw DeliveryError(.localResources, "this photo cannot be prepared: \(error)")
    }
  }

  /// Ends all idle processes and waits for them. Called when no more photos come.
  package func close() {
    var idle = state.withLock { state in
      defer { state.idle = [] }
      return state.idle
    }
    idle.removeAll()
  }

  private func prepare(
    _ photo: PhotoBytes, _ limits: PhotoLimits, _ turn: Turn
  ) throws(DeliveryError) -> PreparedPhoto {
    guard photo.count <= limits.inputBytes else {
      throw DeliveryError(
        .imageLimits,
        "this photo has \(photo.count) bytes, more than \(limits.inputBytes); send a smaller copy of it")
    }
    var death = Death.crashed
    var chance = 1
    while chance <= 2 {
      // The second attempt gets a fresh process.
      var (process, photos) = try take(fresh: chance > 1)
      turn.begin(process)
      defer { turn.endTurn() }
      let outcome = process.ask(
        limits.encoded, file: photo.descriptor, limit: DarkroomAnswer.limit(limits), seconds: options.seconds)
      if turn.isCancelled { throw DeliveryError(.cancelled, "cancelled while it was prepared") }
      switch outcome {
      case .success(let bytes):
        guard let answer = DarkroomAnswer(encoded: bytes, limits: limits) else {
          death = process.bury(.nonsense)
          chance += 1
          continue
        }
        photos += 1
        if photos < options.photosPerProcess { putBack(process, photos) }
        return try answer.result.get()
      case .failure(let cause):
        death = cause
        chance += 1
      case nil:
        // If even a fresh process was gone, the program cannot start.
        if photos == 0 { chance += 1 }
      }
    }
    throw DeliveryError(
      death == .tooSlow ? .imageLimits : .unsupportedImage,
      "\(death.sentence("decoding this photo", seconds: options.seconds)); save it again as an ordinary JPEG")
  }

  /// A process, and the number of photos that it has prepared.
  private func take(fresh: Bool) throws(DeliveryError) -> (LockedProcess, Int) {
    if !fresh, let idle = state.withLock({ $0.idle.popLast() }) { return (idle.process, idle.photos) }
    return (try LockedProcess(program: options.program, "serve", memory: options.memory), 0)
  }

  private func putBack(_ process: LockedProcess, _ photos: Int) {
    let startsTidying = state.withLock { state in
      state.idle.append(Idle(process: process, photos: photos, since: .now()))
      defer { state.isTidying = true }
      return !state.isTidying
    }
    if startsTidying { tidyLater() }
  }

  /// Ends processes that were idle for long, and repeats while there are any.
  private func tidyLater() {
    DispatchQueue.global(qos: .utility).asyncAfter(deadline: .now() + .seconds(options.idleSeconds)) { [weak self] in
      guard let self else { return }
      let limit = DispatchTime.now() - .seconds(self.options.idleSeconds)
      var old: [Idle] = []
      let looksAgain = self.state.withLock { state in
        old = state.idle.filter { $0.since <= limit }
        state.idle.removeAll { $0.since <= limit }
        state.isTidying = !state.idle.isEmpty
        return state.isTidying
      }
      if looksAgain { self.tidyLater() }
      // They end here, outside the lock, which takes a moment.
      old.removeAll()
    }
  }
}

/// The process of one photo, which is ended when the photo is cancelled.
private final class Turn: Sendable {
  private struct State {
    var process: LockedProcess?
    var isCancelled = false
  }

  private let state = Mutex(State())

  var isCancelled: Bool { state.withLock { $0.isCancelled } }

  func begin(_ process: LockedProcess) {
    let isLate = state.withLock { state in
      state.process = process
      return state.isCancelled
    }
    if isLate { process.end() }
  }

  func endTurn() { state.withLock { $0.process = nil } }

  func cancel() {
    let process = state.withLock { state in
      state.isCancelled = true
      return state.process
    }
    process?.end()
  }
}
