import Clusters
import Messages
import Synchronization

/// Whether this host may publish, and in which partitions. Asked before every single send. `ContinuousClock` is
/// CLOCK_BOOTTIME, which goes on while the machine sleeps.
///
/// The lease saves work and keeps cancelled messages unpublished; order does not depend on it (docs/cluster.md).
final class Lease: Sendable {
  private struct State {
    var until: ContinuousClock.Instant?
    /// When the latest beats were sent, between which there was no pause of half a lease: the first and the last one.
    var steady: (first: ContinuousClock.Instant, last: ContinuousClock.Instant)?
    var partitions: Set<Partition> = []
    /// How often the lease had ended before it was renewed.
    var lapses = 0
  }

  private let times: ClusterTimes
  private let state = Mutex(State())

  init(times: ClusterTimes) { self.times = times }

  /// Extends the lease. Others count from the arrival of the beat, which was later.
  ///
  /// - Parameter asked: when the beat was sent.
  func renew(askedAt asked: ContinuousClock.Instant) {
    let until = asked + times.lease - times.margin
    state.withLock { state in
      // Others may have taken the partitions since it ended; none is covered before the owners were asked again. A beat
      // that was sent before the end may have arrived long after it.
      if let former = state.until, former < .now {
        state.lapses += 1
        state.partitions = []
      }
      state.until = max(state.until ?? until, until)
      let isSteady = state.steady.map { asked - $0.last < times.lease / 2 } ?? false
      state.steady = (isSteady ? state.steady?.first ?? asked : asked, asked)
    }
  }

  /// Until when this host and the cluster have worked since a moment, as the beats prove; nil if there was a pause.
  func hasWorked(since moment: ContinuousClock.Instant) -> ContinuousClock.Instant? {
    state.withLock { state in state.steady.flatMap { $0.first <= moment ? $0.last : nil } }
  }

  var isValid: Bool { state.withLock { $0.until.map { $0 > .now } ?? false } }

  var lapses: Int { state.withLock { $0.lapses } }

  /// Covers partitions, unless the lease had ended since this host was known to own them.
  ///
  /// - Parameter lapses: their number before the owners were asked.
  func admit(_ partitions: some Sequence<Partition>, lapses: Int) {
    state.withLock { if $0.lapses == lapses { $0.partitions.formUnion(partitions) } }
  }

  func close(_ partition: Partition) { state.withLock { _ = $0.partitions.remove(partition) } }

  /// Whether messages of a conversation may be sent now.
  func covers(_ conversation: ConversationID) -> Bool {
    let partition = Partition(of: conversation)
    return state.withLock { state in
      state.partitions.contains(partition) && (state.until.map { $0 > .now } ?? false)
    }
  }
}
