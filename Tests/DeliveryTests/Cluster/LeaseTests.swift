import Clusters
import Messages
import Testing

@testable import Delivery

struct LeaseTests {
  private let family = ConversationID(unchecked: "family")
  private let now = ContinuousClock.now
  private var times: ClusterTimes {
    var times = ClusterTimes()
    times.lease = .seconds(8)
    return times
  }

  private func host(_ number: Int) throws -> HostID {
    try #require(HostID(String(repeating: "\(number)", count: 32)))
  }

  private func beat(_ number: Int, _ value: UInt64, works: Bool = true) throws -> StoredBeat {
    StoredBeat(
      beat: Beat(host: try host(number), name: "host", works: works, version: 1, routes: ""), number: value)
  }

  @Test("a lease counts from when the beat was sent, and ends before others take the host for dead")
  func endsEarly() {
    let lease = Lease(times: times)
    lease.admit([Partition(of: family)], lapses: lease.lapses)
    #expect(!lease.covers(family))
    lease.renew(askedAt: .now - .seconds(6))
    #expect(lease.covers(family))
    let late = Lease(times: times)
    late.admit([Partition(of: family)], lapses: late.lapses)
    late.renew(askedAt: .now - .seconds(7.5))
    #expect(!late.covers(family))
  }

  @Test("a host covers only the partitions that it owns")
  func coversOwn() {
    let lease = Lease(times: times)
    lease.renew(askedAt: .now)
    #expect(!lease.covers(family))
    lease.admit([Partition(of: family)], lapses: lease.lapses)
    #expect(lease.covers(family))
    lease.close(Partition(of: family))
    #expect(!lease.covers(family))
  }

  @Test("a lease that ended before a beat was answered covers nothing until the owners were asked")
  func lapses() {
    let lease = Lease(times: times)
    // It ended half a second ago, while the next beat was on its way.
    lease.renew(askedAt: .now - (times.lease - times.margin) - .seconds(0.5))
    lease.admit([Partition(of: family)], lapses: lease.lapses)
    let before = lease.lapses
    lease.renew(askedAt: .now - .seconds(1))
    #expect(!lease.covers(family))
    lease.admit([Partition(of: family)], lapses: before)
    #expect(!lease.covers(family))
    lease.admit([Partition(of: family)], lapses: lease.lapses)
    #expect(lease.covers(family))
  }

  @Test("a host is dead when its beat has not changed for a lease")
  func seesDeath() throws {
    var watch = HostWatch(times: times)
    for second in 0...9 {
      watch.look([try beat(1, UInt64(second)), try beat(2, min(UInt64(second), 1))], at: now + .seconds(second))
    }
    #expect(try !watch.isDead(host(1), at: now + .seconds(9)))
    #expect(try watch.isDead(host(2), at: now + .seconds(9)))
    #expect(try watch.workers(at: now + .seconds(9)) == [host(1)])
  }

  @Test("a host that slept takes nobody for dead before it has watched for a lease")
  func watchesAgain() throws {
    var watch = HostWatch(times: times)
    watch.look([try beat(1, 1)], at: now)
    watch.look([try beat(1, 1)], at: now + .seconds(3600))
    #expect(try !watch.isDead(host(1), at: now + .seconds(3600)))
    // An owner that has never been seen is judged in the same way.
    #expect(try !watch.isDead(host(2), at: now + .seconds(3600)))
    for second in 1...8 { watch.look([try beat(1, 1)], at: now + .seconds(3600 + second)) }
    #expect(try watch.isDead(host(1), at: now + .seconds(3608)))
    #expect(try watch.isDead(host(2), at: now + .seconds(3608)))
  }

  @Test("a dead host stays dead for one that was busy or asleep")
  func staysDead() throws {
    var watch = HostWatch(times: times)
    for second in 0...8 { watch.look([try beat(1, UInt64(second)), try beat(2, 1)], at: now + .seconds(second)) }
    watch.look([try beat(1, 9), try beat(2, 1)], at: now + .seconds(30))
    #expect(try watch.workers(at: now + .seconds(30)) == [host(1)])
    // Long work between two looks is no sleep: silence counts.
    watch.hasWorked(until: now + .seconds(37))
    watch.look([try beat(1, 9), try beat(2, 2)], at: now + .seconds(38))
    #expect(try watch.workers(at: now + .seconds(38)) == [host(2)])
  }
}
