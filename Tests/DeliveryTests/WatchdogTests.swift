import Signalling
import Supervision
import TestSupport
import Testing

@testable import Delivery

@Suite(.timeLimit(.minutes(10))) struct WatchdogTests {
  private func manager(_ path: String, seconds: Double) throws -> ServiceManager {
    try #require(
      ServiceManager(environment: ["NOTIFY_SOCKET": path, "WATCHDOG_USEC": "\(Int(seconds * 1_000_000))"]))
  }

  @Test("Signs of life are sent while all services answer, and none while one hangs")
  func hangs() async throws {
    let scratch = try TemporaryDirectory()
    let listener = try NotifySocket(scratch.path("notify"))
    let manager = try manager(scratch.path("notify"), seconds: 0.02)
    let asked = Bell()
    let free = Bell()
    let watchdog = Watchdog(
      manager: manager,
      answers: [
        {},
        {
          asked.ring()
          for await _ in free.rings { return }
        },
      ])
    await withTaskGroup(of: Void.self) { group in
      group.addTask { try? await watchdog.run() }
      for await _ in asked.rings { break }
      // It hangs: the manager's next message is from here.
      manager.status("nothing yet")
      #expect(await listener.receive() == "STATUS=nothing yet")
      free.ring()
      #expect(await listener.receive() == "WATCHDOG=1")
      group.cancelAll()
    }
  }

  @Test("A daemon tells its manager that it is ready, and alive while it works")
  func wholeDaemon() async throws {
    let daemon = try DaemonUnderTest(network: ScriptedNetwork())
    let path = daemon.scratch.path("notify")
    let listener = try NotifySocket(path)
    try await daemon.run(manager: manager(path, seconds: 0.1)) { daemon in
      var heard = Set<String>()
      while !heard.isSuperset(of: ["READY=1", "WATCHDOG=1"]) {
        let message = await listener.receive()
        try #require(!message.isEmpty)
        heard.insert(String(message.prefix { $0 != "\n" }))
      }
      try daemon.drop("x", to: "family")
      await daemon.network.wait { $0.published == 1 }
      // The loops answer while they work.
      var lives = 0
      while lives < 5 {
        let message = await listener.receive()
        try #require(!message.isEmpty)
        if message == "WATCHDOG=1" { lives += 1 }
      }
    }
  }
}
