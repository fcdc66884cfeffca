import Control
import ServiceLifecycle

/// Asks the daemon's destinations whether all is well, one round at a time. Who asks during a round gets that round's
/// answers, and a client that goes away does not end it. A stop cancels the round.
actor CheckRounds: Service {
  private let check: @Sendable () async -> [ControlReply.Outcome]
  private var round: Task<[ControlReply.Outcome], Never>?
  private var isStopping = false

  /// - Parameter check: asks every destination once; it ends soon after a cancellation.
  init(_ check: @escaping @Sendable () async -> [ControlReply.Outcome]) { self.check = check }

  /// The answers of the round in progress, or of a new one; nil when the daemon stops first.
  func answers() async -> [ControlReply.Outcome]? {
    if isStopping { return nil }
    let answers = await (round ?? begin()).value
    return isStopping ? nil : answers
  }

  private func begin() -> Task<[ControlReply.Outcome], Never> {
    let task = Task {
      let answers = await check()
      round = nil
      return answers
    }
    round = task
    return task
  }

  func run() async throws {
    try? await gracefulShutdown()
    isStopping = true
    round?.cancel()
  }
}
