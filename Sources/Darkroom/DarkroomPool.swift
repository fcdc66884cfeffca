import Blocking
import Dispatch
import Foundation
import Messages
import Photos
import Settings
import Synchronization

/// Has photos prepared in processes of their own, as many as may work at once.
///
/// A process is started when there is work for it and none is idle. One that crashed, hung, took too much memory or
/// answered nonsense is replaced, and its photo has one more chance in another. After a number of photos, and after a
/// minute without work, a process is let go, so that nothing piles up in it.
package final class DarkroomPool: PhotoPreparer {
  package struct Options: Sendable {
    /// The path of photospool-darkroom.
    package var program: String
    /// Photos that are prepared at once.
    package var processes: Int
    /// Bytes that one process may map beyond what it starts with.
    package var memory: Int
    /// Seconds of processor time that a photo may take; three times as long by the clock.
    package var seconds: Int
    package var limits: PhotoLimits
    /// For profile photos.
    package var profileLimits: PhotoLimits
    /// Photos after which a process is replaced.
    package var photosPerProcess = 500
    /// Seconds without work after which a process is let go.
    package var idleSeconds = 60

    package init(program: String, settings: Settings = Settings()) {
      let photo = settings.photo
      self.program = program
      processes = photo.threads > 0 ? photo.threads : ProcessInfo.processInfo.activeProcessorCount
      memory = photo.memory
      seconds = Int(photo.time.seconds.rounded(.up))
      limits = photo.limits
      // A third is left for what is made of what was decoded.
      limits.decoderBytes = photo.memory / 3 * 2
      profileLimits = limits
      profileLimits.longestSide = settings.profile.side
      profileLimits.squareSide = settings.profile.side
      profileLimits.outputBytes = settings.profile.bytes
      profileLimits.thumbnailSide = min(limits.thumbnailSide, settings.profile.side)
    }
  }

  private struct Idle {
    let process: DarkroomProcess
    let photos: Int
    let since: DispatchTime
  }

  private struct State {
    /// The one that worked last is at the end, and works next.
    var idle: [Idle] = []
    var isTidying = false
  }

  private let options: Options
  private let threads: BlockingPool
  private let state = Mutex(State())

  /// Photos that are prepared at once.
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
      // The threads throw what their work throws, and that is a DeliveryError.
      throw DeliveryError(.localResources, "this photo cannot be prepared: \(error)")
    }
  }

  /// Lets go of all processes without work, and waits until they have ended. Called when no more photos come.
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
      // The second chance is in a process that no other photo can have spoilt.
      var (process, photos) = try take(fresh: chance > 1)
      turn.begin(process)
      defer { turn.endTurn() }
      let outcome = process.prepare(photo, limits: limits, seconds: options.seconds)
      if turn.isCancelled { throw DeliveryError(.cancelled, "cancelled while it was prepared") }
      switch outcome {
      case .answered(let result):
        photos += 1
        if photos < options.photosPerProcess { putBack(process, photos) }
        return try result.get()
      case .died(let cause):
        death = cause
        chance += 1
      case .wasGone:
        // No fault of the photo's, unless it was a fresh one: then the program does not even start.
        if photos == 0 { chance += 1 }
      }
    }
    throw death.sentence(seconds: options.seconds)
  }

  /// A process to work with, and the number of photos that it has prepared.
  private func take(fresh: Bool) throws(DeliveryError) -> (DarkroomProcess, Int) {
    if !fresh, let idle = state.withLock({ $0.idle.popLast() }) { return (idle.process, idle.photos) }
    return (try DarkroomProcess(program: options.program, memory: options.memory), 0)
  }

  private func putBack(_ process: DarkroomProcess, _ photos: Int) {
    let startsTidying = state.withLock { state in
      state.idle.append(Idle(process: process, photos: photos, since: .now()))
      defer { state.isTidying = true }
      return !state.isTidying
    }
    if startsTidying { tidyLater() }
  }

  /// Lets go of processes that had no work for long, and looks again as long as there are any.
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
      // Here they end, outside the lock, as it takes a moment.
      old.removeAll()
    }
  }
}

/// One photo's turn: whose process to end when it is cancelled.
private final class Turn: Sendable {
  private struct State {
    var process: DarkroomProcess?
    var isCancelled = false
  }

  private let state = Mutex(State())

  var isCancelled: Bool { state.withLock { $0.isCancelled } }

  func begin(_ process: DarkroomProcess) {
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
