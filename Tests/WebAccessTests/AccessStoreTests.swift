import Messages
import Spooling
import TestSupport
import Testing

@testable import WebAccess

@Suite struct AccessStoreTests {
  private let scratch: TemporaryDirectory
  private let access: AccessStore
  private let now = Timestamp.now()

  init() throws {
    scratch = try TemporaryDirectory()
    access = try AccessStore(Spool(creating: scratch.path("spool")))
  }

  private func grant(days: Double = 1) -> Grant {
    Grant(rights: [.see], inbox: nil, name: "n", expires: now.advanced(seconds: days * 86_400))
  }

  @Test("A link opens one session, however many use it at once")
  func once() async throws {
    let code = try access.makeLink(grant())
    let (access, now) = (access, now)
    let begun = try await withThrowingTaskGroup(of: String?.self) { group in
      for _ in 0..<20 { group.addTask { try access.beginSession(by: code, user: 1, at: now)?.secret } }
      return try await group.reduce(into: []) { if let secret = $1 { $0.append(secret) } }
    }
    #expect(begun.count == 1)
    #expect(try access.link(code, at: now) == nil)
  }

  @Test("A link lasts for ten minutes, and looking at it spends nothing")
  func links() throws {
    let code = try access.makeLink(grant())
    for _ in 0..<2 { #expect(try access.link(code, at: now) == grant()) }
    #expect(try access.link(code, at: now.advanced(seconds: 601)) == nil)
    #expect(try access.beginSession(by: code, user: 7, at: now.advanced(seconds: 601)) == nil)
    #expect(try access.link("nothing", at: now) == nil)
  }

  @Test("A session is for the user who began it, and ends by itself, by disuse or by order")
  func sessions() throws {
    func begin(days: Double = 1) throws -> String {
      try #require(try access.beginSession(by: access.makeLink(grant(days: days)), user: 7, at: now)).secret
    }
    let secret = try begin()
    #expect(try access.session(secret, user: 7, at: now)?.may(.see) == true)
    #expect(try access.session(secret, user: 7, at: now)?.may(.send) == false)
    #expect(try access.session(secret, user: 8, at: now) == nil)
    #expect(try access.session(secret, user: nil, at: now) == nil)
    #expect(try access.session("other", user: 7, at: now) == nil)
    #expect(try access.session(secret, user: 7, at: now.advanced(seconds: 2 * 86_400)) == nil)
    #expect(try access.session(secret, user: 7, at: now) == nil, "it is removed")
    let unused = try begin(days: 30)
    #expect(try access.session(unused, user: 7, at: now.advanced(seconds: 6 * 86_400)) != nil)
    #expect(try access.session(unused, user: 7, at: now.advanced(seconds: 12 * 86_400)) != nil, "it was used")
    #expect(try access.session(unused, user: 7, at: now.advanced(seconds: 20 * 86_400)) == nil)
    let ended = try begin()
    try access.endSession(ended)
    try access.endSession(ended)
    #expect(try access.session(ended, user: 7, at: now) == nil)
  }

  @Test("A password is asked for after twelve hours of rest, and again after the next")
  func password() throws {
    let secret = try #require(try access.beginSession(by: access.makeLink(grant(days: 9)), user: nil, at: now)).secret
    let id = try #require(try access.entries(at: now).first { !$0.isLink }).id
    func session(hours: Double) throws -> WebSession {
      try #require(try access.session(secret, user: nil, at: now.advanced(seconds: hours * 3600)))
    }
    #expect(try !session(hours: 13).isLocked, "it has no password")
    #expect(try access.setPassword("correct horse", ofSession: id))
    #expect(try !access.setPassword("correct horse", ofSession: "other"))
    #expect(try access.entries(at: now).first { !$0.isLink }?.hasPassword == true)
    #expect(try !session(hours: 24).isLocked, "it was used eleven hours ago")
    let locked = try session(hours: 37)
    #expect(locked.isLocked)
    #expect(try session(hours: 37).isLocked, "looking at it is no use of it")
    let then = now.advanced(seconds: 37 * 3600)
    #expect(try !access.unlock(secret, locked, password: "correct horses", at: then))
    #expect(try session(hours: 37).isLocked)
    #expect(try access.unlock(secret, locked, password: "correct horse", at: then))
    #expect(try !session(hours: 48).isLocked)
    #expect(try session(hours: 61).isLocked)
    #expect(try access.setPassword(nil, ofSession: id))
    #expect(try !session(hours: 61).isLocked)
  }

  @Test("The overview has links and sessions, and ends them by their ids")
  func overview() throws {
    let link = try access.makeLink(grant())
    let secret = try #require(try access.beginSession(by: access.makeLink(grant()), user: 7, at: now)).secret
    let entries = try access.entries(at: .now())
    #expect(entries.map(\.isLink).sorted { $0 && !$1 } == [true, false])
    for entry in entries {
      #expect(!link.hasPrefix(entry.id) && !secret.hasPrefix(entry.id))
      #expect(try access.end(entry.id))
      #expect(try !access.end(entry.id))
    }
    #expect(try access.link(link, at: now) == nil)
    #expect(try access.session(secret, user: 7, at: now) == nil)
    #expect(try access.entries(at: now).isEmpty)
  }

  @Test("What a page asks for by itself is no use of its session")
  func unused() throws {
    let link = try access.makeLink(grant(days: 30))
    let secret = try #require(try access.beginSession(by: link, user: nil, at: now)).secret
    func session(hours: Double, isUse: Bool) throws -> WebSession? {
      try access.session(secret, user: nil, at: now.advanced(seconds: hours * 3600), isUse: isUse)
    }
    let id = try #require(try session(hours: 1, isUse: false)).id
    #expect(try access.setPassword("correct horse", ofSession: id))
    for hours in 2...11 { #expect(try session(hours: Double(hours), isUse: false)?.isLocked == false) }
    #expect(try session(hours: 12.5, isUse: false)?.isLocked == true)
    #expect(try session(hours: 11, isUse: true)?.isLocked == false)
    #expect(try session(hours: 12.5, isUse: false)?.isLocked == false)
    #expect(try session(hours: 8 * 24, isUse: false) == nil)
  }

  @Test("A link for one user opens for no other")
  func bound() throws {
    let mine = Grant(rights: [.send], inbox: nil, name: "n", expires: now.advanced(seconds: 60), user: 7)
    let code = try access.makeLink(mine)
    #expect(try access.beginSession(by: code, user: 8, at: now) == nil)
    #expect(try access.beginSession(by: code, user: nil, at: now) == nil)
    #expect(try access.beginSession(by: code, user: 7, at: now) != nil)
  }

  @Test("The session that was not used for the longest time makes room for a new one")
  func room() throws {
    let secrets = try (0..<65).map { number in
      try #require(
        try access.beginSession(by: access.makeLink(grant()), user: 7, at: now.advanced(seconds: Double(number)))
      ).secret
    }
    #expect(try access.session(secrets[0], user: 7, at: now) == nil)
    #expect(try access.session(secrets[1], user: 7, at: now) != nil)
    #expect(try access.session(secrets[64], user: 7, at: now) != nil)
  }

  @Test("A member of the group, who gets links at will, ends no session but its own")
  func roomOfMembers() throws {
    func begin(_ user: UInt32, isMember: Bool, second: Int) throws -> String {
      let grant = Grant(
        rights: [.send], inbox: nil, name: "n", expires: now.advanced(seconds: 3600), user: isMember ? user : nil)
      let time = now.advanced(seconds: Double(second))
      return try #require(try access.beginSession(by: access.makeLink(grant), user: user, at: time)).secret
    }
    let other = try begin(7, isMember: false, second: 0)
    let neighbour = try begin(8, isMember: true, second: 1)
    let own = try (0..<100).map { try begin(9, isMember: true, second: 2 + $0) }
    #expect(try access.session(other, user: 7, at: now) != nil)
    #expect(try access.session(neighbour, user: 8, at: now) != nil)
    #expect(try own.filter { try access.session($0, user: 9, at: now) != nil } == Array(own.suffix(8)))
  }

  @Test("The page keeps its name, and secrets are not in the spool")
  func name() throws {
    let name = try access.name()
    #expect(try access.name() == name && name.hasSuffix(".localhost"))
    #expect(try access.origin() == nil)
    try access.setOrigin("http://\(name):1")
    #expect(try access.origin() == "http://\(name):1")
    let code = try access.makeLink(grant())
    let links = try Spool(opening: scratch.path("spool")).state.directory("web").directory("links").names()
    #expect(links.count == 1 && links != [code])
    let secret = try #require(try access.beginSession(by: code, user: 7, at: now)).secret
    #expect(code.wholeMatch(of: /[0-9a-f]{32}/) != nil && secret.wholeMatch(of: /[0-9a-f]{64}/) != nil)
  }
}
