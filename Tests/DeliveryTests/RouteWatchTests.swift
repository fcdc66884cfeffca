import CKernel
import Logging
import Testing

@testable import Delivery

@Suite(
  .enabled(if: OwnNetwork.isPermitted, "no network namespace may be made here: run as root, with iproute2"),
  .timeLimit(.minutes(2)))
struct RouteWatchTests {
  @Test(
    "A device that comes up, an address and a route each wake who waits",
    arguments: [
      ["link set lo up"], ["link set lo up", "address add 10.78.0.1/24 dev lo"],
      ["link set lo up", "route add 10.79.0.0/24 dev lo"],
    ])
  func arrival(commands: [String]) async throws {
    let network = try OwnNetwork()
    for command in commands.dropLast() { try network.ip(command) }
    // What these caused is not what is waited for.
    _ = ckernel_drain(network.watch)
    let (changes, told) = AsyncStream<Void>.makeStream()
    var arrived = changes.makeAsyncIterator()
    let watch = RouteWatch(
      log: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }, open: { network.watch }, changed: { told.yield() })
    let watching = Task { try await watch.run() }
    try network.ip(try #require(commands.last))
    #expect(await arrived.next() != nil)
    watching.cancel()
    try await watching.value
  }
}
