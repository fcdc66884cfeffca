import Foundation
import LogOutput
import Logging
import Testing

@testable import Composition

@Suite(.timeLimit(.minutes(5))) struct DaemonProcessTests {
  @Test("A message of the spool is published and filed by the daemon that its configuration makes")
  func sends() async throws {
    let scratch = try Scratch()
    let settings = try scratch.settings("")
    try scratch.spool.new.directory(creating: "cat").write(Array("family".utf8), as: "to")
    try scratch.spool.new.directory("cat").write(Array("hello".utf8), as: "text")
    let log = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
    let daemon = try await DaemonProcess(settings, logSetting: LogSetting(settings.log), log: log)
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { try await daemon.run(signals: [], reloads: nil) { settings } }
      while try scratch.spool.sent.entry("cat") == nil { await Task.yield() }
      group.cancelAll()
    }
  }
}
