import Foundation
import Glibc
import Supervision
import TestSupport
import Testing

@Suite struct ServiceManagerTests {
  @Test("A manager hears of every state, on a socket with a path and on an abstract one")
  func states() async throws {
    let scratch = try TemporaryDirectory()
    for name in [scratch.path("notify"), "@photospool-test-\(UUID())"] {
      let listener = try NotifySocket(name)
      let manager = try #require(ServiceManager(environment: ["NOTIFY_SOCKET": name]))
      #expect(manager.patience == nil)
      manager.ready("Up.\nX=1")
      #expect(await listener.receive() == "READY=1\nSTATUS=Up. X=1")
      manager.reloading()
      let lines = (await listener.receive()).split(separator: "\n")
      #expect(lines.first == "RELOADING=1" && lines.count == 2)
      let moment = try #require(UInt64(lines[1].dropFirst("MONOTONIC_USEC=".count)))
      var now = timespec()
      clock_gettime(CLOCK_MONOTONIC, &now)
      #expect(moment > 0 && moment <= UInt64(now.tv_sec + 1) * 1_000_000)
      manager.status("3 messages wait.")
      #expect(await listener.receive() == "STATUS=3 messages wait.")
      manager.isAlive()
      #expect(await listener.receive() == "WATCHDOG=1")
      manager.stopping()
      #expect(await listener.receive() == "STOPPING=1\nSTATUS=Stopping.")
    }
  }

  @Test("Without a manager, or with an invalid name, there is no manager")
  func nobody() {
    #expect(ServiceManager(environment: [:]) == nil)
    for name in ["", "relative", "/" + String(repeating: "x", count: 200)] {
      #expect(ServiceManager(environment: ["NOTIFY_SOCKET": name]) == nil, "\(name)")
    }
  }

  @Test("A manager that is gone, or does not read, holds nothing up")
  func deaf() async throws {
    let scratch = try TemporaryDirectory()
    let listener = try NotifySocket(scratch.path("notify"))
    let manager = try #require(ServiceManager(environment: ["NOTIFY_SOCKET": scratch.path("notify")]))
    for _ in 0..<100_000 { manager.isAlive() }
    #expect(await listener.receive() == "WATCHDOG=1")
    unlink(scratch.path("notify"))
    manager.isAlive()
  }

  @Test("The watchdog is for the process that it names, and counts microseconds")
  func watchdog() {
    func patience(_ environment: [String: String]) -> Double? {
      ServiceManager(environment: environment.merging(["NOTIFY_SOCKET": "/tmp/x"]) { $1 }, process: 42)?.patience
    }
    #expect(patience(["WATCHDOG_USEC": "30000000"]) == 30)
    #expect(patience(["WATCHDOG_USEC": "30000000", "WATCHDOG_PID": "42"]) == 30)
    #expect(patience(["WATCHDOG_USEC": "30000000", "WATCHDOG_PID": "43"]) == nil)
    #expect(patience(["WATCHDOG_USEC": "nonsense"]) == nil)
    #expect(patience([:]) == nil)
  }
}
