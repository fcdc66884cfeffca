import Clusters
import Ledgers
import Messages
import Synchronization

/// Whether this host may publish, and in which partitions. Asked before every single send. `ContinuousClock` is
/// CLOCK_BOOTTIME, which goes on while the machine sleeps.
///
/// The lease saves work and keeps cancelled messages unpublished; order does not depend on it (docs/cluster.md).
final class Lease: Sendable {
  private struct State {
    var until: ContinuousClock.Instant?
    var partitions: Set<Partition> = []
  }

  private let times: ClusterTimes
  private let state = Mutex(State())

  init(times: ClusterTimes) { self.times = times }

  /// Extends the lease. Others count from the arrival of the beat, which was later.
  ///
  /// - Parameter asked: when the beat was sent.
  func renew(askedAt asked: ContinuousClock.Instant) {
    let until = asked + times.lease - times.margin
    state.withLock { $0.until = max($0.until ?? until, until) }
  }

  var isValid: Bool { state.withLock { $0.until.map { $0 > .now } ?? false } }

  func admit(_ partition: Partition) { state.withLock { _ = $0.partitions.insert(partition) } }

  func close(_ partition: Partition) { state.withLock { _ = $0.partitions.remove(partition) } }

  /// Whether messages of a conversation may be sent now.
  func covers(_ conversation: ConversationID) -> Bool {
    let partition = Partition(of: conversation)
    return state.withLock { state in
      state.partitions.contains(partition) && (state.until.map { $0 > .now } ?? false)
    }
  }
}
