import Clusters
import Seals
import ServiceLifecycle
import Signalling

/// Tells the cluster that this host lives. A service of its own, so that nothing slow delays a beat.
struct Beats: Service, HasCore {
  let core: DeliveryCore
  let link: ClusterLink
  let lease: Lease
  private let bell = Bell()
  private static let work = "the cluster is not reachable; this host publishes nothing beyond its lease"

  func run() async throws {
    bell.ring()
    await bell.serve {
      let asked = ContinuousClock.now
      bell.ring(in: link.times.beat / .seconds(1))
      try await link.queue.beat(
        Beat(
          host: link.host, name: link.name, works: link.works, version: Int(NamedSeal.version),
          routes: link.routes()))
      let wasValid = lease.isValid
      lease.renew(askedAt: asked)
      // Messages that waited for the lease are due.
      if !wasValid { signals.dispatcher.ring() }
      troubles.end(Self.work)
    } failed: { error in
      troubles.tell(Self.work, error)
      return link.times.beat / .seconds(1)
    }
  }
}

/// Judges which hosts live, by this host's own clock: one whose beat has not changed for a lease is dead.
struct HostWatch {
  private let times: ClusterTimes
  private var seen: [HostID: (beat: StoredBeat, changedAt: ContinuousClock.Instant)] = [:]
  private var lastLook: ContinuousClock.Instant?
  private var watchesSince: ContinuousClock.Instant?

  init(times: ClusterTimes) { self.times = times }

  /// Takes in a look at all beats.
  mutating func look(_ beats: [StoredBeat], at now: ContinuousClock.Instant = .now) {
    let last = lastLook ?? now
    // While this host slept or was cut off, nobody's silence was heard.
    let isBlind = lastLook.map { now - $0 > times.lease / 2 } ?? true
    if isBlind { watchesSince = now }
    lastLook = now
    for beat in beats {
      let known = seen[beat.beat.host]
      let isChanged = known.map { $0.beat.number != beat.number } ?? true
      // One that was dead before has given no sign of life since then.
      let isExcused = isBlind && known.map { last - $0.changedAt < times.lease } ?? true
      seen[beat.beat.host] = (beat, isChanged || isExcused ? now : known?.changedAt ?? now)
    }
    let present = Set(beats.map(\.beat.host))
    seen = seen.filter { present.contains($0.key) }
  }

  /// Says that this host and the cluster have worked until a moment, although the last look was a while before it.
  mutating func hasWorked(until moment: ContinuousClock.Instant) { lastLook = lastLook.map { max($0, moment) } }

  /// The hosts that publish, dead ones left out.
  func workers(at now: ContinuousClock.Instant = .now) -> Set<HostID> {
    Set(seen.values.filter { $0.beat.beat.works && now - $0.changedAt < times.lease }.map(\.beat.beat.host))
  }

  /// Whether a host was silent for a lease, or never heard for so long.
  func isDead(_ host: HostID, at now: ContinuousClock.Instant = .now) -> Bool {
    guard let since = seen[host]?.changedAt ?? watchesSince else { return false }
    return now - since >= times.lease
  }
}
