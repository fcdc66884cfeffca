import Logging
import Synchronization

/// Problems of the daemon itself, such as a full disk. The log gets each sentence once, and then at most once a minute.
final class Troubles: Sendable {
  private struct Trouble {
    var sentence: String
    var toldAt: ContinuousClock.Instant
    var isOver = false
  }

  private let log: Logger
  private let known = Mutex<[String: Trouble]>([:])

  /// The time until the same sentence is logged again.
  private static let silence = Duration.seconds(60)

  init(log: Logger) { self.log = log }

  /// `work` cannot continue for now; it is tried again.
  func tell(_ work: String, _ error: any Error) {
    let sentence = "\(error)"
    let now = ContinuousClock.now
    let isNew = known.withLock { known in
      if let trouble = known[work], trouble.sentence == sentence, now - trouble.toldAt < Self.silence {
        known[work]?.isOver = false
        return false
      }
      known[work] = Trouble(sentence: sentence, toldAt: now)
      return true
    }
    if isNew { log.error("\(work)", metadata: ["error": "\(sentence)"]) }
  }

  /// `work` continues.
  func end(_ work: String) { known.withLock { $0[work]?.isOver = true } }

  /// The latest problem that is not over.
  var current: String? {
    known.withLock { $0.values.filter { !$0.isOver }.max { $0.toldAt < $1.toldAt }?.sentence }
  }
}
