import Settings
import TestSupport
import Testing

@testable import Composition

@Suite struct SpoolChecksTests {
  private let scratch: Scratch

  init() throws { scratch = try Scratch() }

  @Test("Before the first start nothing of the spool is examined but its place")
  func new() throws {
    let checks = SpoolChecks(try scratch.settings("")).all(isNew: true)
    #expect(checks.map(\.subject) == ["spool \(scratch.spool.path)", "darkroom", "profile photos", "sent texts"])
  }

  @Test("Every hook has a check, and a program that cannot be run fails it")
  func hooks() throws {
    let settings = try scratch.settings("hooks: {sent: /bin/true, failed: /etc/hostname-that-is-not}\n")
    let checks = SpoolChecks(settings).all(isNew: false)
    let sent = try #require(checks.first { $0.subject == "hook sent" })
    let failed = try #require(checks.first { $0.subject == "hook failed" })
    #expect(try sent.run() == "runs /bin/true")
    #expect(throws: Failure.self) { try failed.run() }
  }

  @Test("The daemon's process is known while it holds its lock")
  func daemon() throws {
    #expect(try scratch.spool.daemonProcess() == nil)
    let claim = try #require(try scratch.spool.claim(briefly: false))
    #expect(try scratch.spool.daemonProcess() != nil)
    claim.release()
    #expect(try scratch.spool.daemonProcess() == nil)
  }

  @Test("The check says where profile photos are open to everybody")
  func profile() throws {
    #expect(SpoolChecks(try scratch.settings("")).profile() == "on the network local")
  }

  @Test("The check says that a network has no place for profile photos")
  func noProfile() throws {
    let settings = try scratch.settings(
      """
      networks: {app: {type: firestore, project: demo-app, keyFile: /k}}
      profile: {network: app}
      """)
    #expect(SpoolChecks(settings).profile().hasPrefix("none, as the network app has no place for them"))
  }
}
