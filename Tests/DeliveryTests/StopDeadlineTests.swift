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

  @Test("When a service hangs, the process is ended all the same, though nothing else can go on")
  func hangs() async throws {
    let log = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
    let overdue = Bell()
    let free = Bell()
    let deadline = StopDeadline(manager: nil, seconds: 0, log: log) { overdue.ring() }
    // Services stop in reverse order, one after the other.
    let group = ServiceGroup(services: [Hanging(bell: free), deadline], logger: log)
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
    let log = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
    let late = Bell()
    let deadline = StopDeadline(manager: nil, seconds: 0, log: log) { Issue.record("it was ended") }
    let after = StopDeadline(manager: nil, seconds: 0.001, log: log) { late.ring() }
    deadline.hasStopped.set()
    for each in [deadline, after] {
      let group = ServiceGroup(services: [each], logger: log)
      await group.triggerGracefulShutdown()
      try await group.run()
    }
    // The later limit is over, and so is the earlier one.
    for await _ in late.rings { break }
  }
}
