import Logging
import ServiceLifecycle
import Signalling
import Testing

@testable import Delivery

@Suite(.timeLimit(.minutes(10))) struct StopDeadlineTests {
  /// A service that never stops, as with a hanging disk.
  private struct Hanging: Service {
    let bell: Bell
    func run() async throws { for await _ in bell.rings { return } }
  }

  @Test("The process is ended after the deadline although a service hangs")
  func hangs() async throws {
    let overdue = Bell()
    let free = Bell()
    let deadline = StopDeadline(manager: nil, seconds: 0, log: silent) { overdue.ring() }
    // Services stop in reverse order, one after the other.
    let group = ServiceGroup(services: [Hanging(bell: free), deadline], logger: silent)
    try await withThrowingTaskGroup(of: Void.self) { tasks in
      tasks.addTask { try await group.run() }
      await group.triggerGracefulShutdown()
      for await _ in overdue.rings { break }
      free.ring()
      try await tasks.waitForAll()
    }
  }

  @Test("A process that has stopped in time goes on")
  func stopsInTime() async throws {
    let late = Bell()
    let deadline = StopDeadline(manager: nil, seconds: 0, log: silent) { Issue.record("it was ended") }
    let after = StopDeadline(manager: nil, seconds: 0.001, log: silent) { late.ring() }
    deadline.hasStopped.set()
    for each in [deadline, after] {
      let group = ServiceGroup(services: [each], logger: silent)
      await group.triggerGracefulShutdown()
      try await group.run()
    }
    // The later limit is over, and so is the earlier one.
    for await _ in late.rings { break }
  }
}
