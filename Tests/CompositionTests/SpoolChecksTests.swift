import Messages
import Settings
import TestSupport
import Testing
import WebAccess

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

  @Test("The check says where the page listens, and who may operate it from other computers")
  func page() throws {
    let check = PageCheck(spool: scratch.spool)
    #expect(try check.run() == "not used; `photospool web` starts it")
    let access = try AccessStore(scratch.spool)
    #expect(try check.run() == "not started yet; `photospool web` starts it")
    try access.setOrigin("http://ps-1.localhost:7377")
    #expect(try check.run() == "last started at http://ps-1.localhost:7377, without links and sessions")
    let end = Timestamp.now().advanced(seconds: 600)
    _ = try access.makeLink(Grant(rights: [.see], inbox: nil, name: "Anna", expires: end))
    let code = try access.makeLink(Grant(rights: [.operate], inbox: nil, name: "Phone", expires: end))
    #expect(try check.run() == "last started at http://ps-1.localhost:7377, with 2 links and 0 sessions")
    try access.setOrigin("https://photos.test")
    _ = try access.beginSession(by: code, user: nil, at: .now())
    let sentence = try check.run()
    #expect(
      sentence.hasPrefix(
        "last started at https://photos.test, with 1 link and 1 session; 1 of them may operate from other computers, such as 'Phone'"
      ), "\(sentence)")
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
