import Digests
import Foundation
import GRDB
import Matrix
import Messages
import Testing

@testable import Olm
@testable import RoomKeys

/// Sessions that we opened, or send over.
@Suite struct AnsweredSessionsTests {
  private let ours: Ours
  private let bob: Sender

  init() throws {
    ours = try Ours()
    bob = try Sender("@bob:example.org")
  }

  private func key() throws -> JSONValue { try bob.toDevice(ours.device, bob.roomKey(in: Ours.room)) }
  private func event(_ id: String) throws -> JSONValue { try bob.event(id, in: Ours.room) }

  @Test("a device answers over the session that we opened, and its key is taken, by the next process as well")
  func answered() async throws {
    #expect(try bob.read(try await ours.encrypt("one", to: bob)) == "one")
    _ = try await ours.take(key())
    #expect(try await ours.open([event("$1")], Shown(bob)) == ["$1"])
    #expect(try bob.read(try await ours.encrypt("two", to: bob)) == "two")
    #expect(try await ours.count("olm") == 1)
    bob.megolm = try OutboundMegolmSession()
    let next = try ours.restarted()
    let key = try key()
    _ = try await next.take(key)
    #expect(try await next.open([event("$2")], Shown(bob)) == ["$2"])
    #expect(try bob.read(try await next.encrypt("three", to: bob)) == "three")
    #expect(try await next.count("olm") == 1, "over the session of the last message")
    _ = try await next.take(key)
    #expect(try await next.count("unreadable") == 0, "the same message again")
  }

  @Test("a process that ends between storing and sending leaves a session that is not sent over, but answered")
  func killed() async throws {
    let lost = try await ours.encrypt("one", to: bob)
    let next = try ours.restarted()
    #expect(try await next.isUnreachable(bob))
    #expect(try await next.encrypt("two", to: bob, mayOpen: false) == nil)
    #expect(try bob.read(lost) == "one", "if it was sent all the same")
    let answer = try key()
    #expect(try bob.read(try await next.encrypt("two", to: bob)) == "two")
    _ = try await next.take(answer)
    #expect(try await next.open([event("$1")], Shown(bob)) == ["$1"])
  }

  @Test("nothing is handed out, and no key is used up, unless the session is stored") func notStored() async throws {
    try await refuse("olm")
    await #expect(throws: DeliveryError.self) { try await ours.encrypt("one", to: bob) }
    try await permit()
    #expect(try await ours.isUnreachable(bob))
    #expect(try bob.read(try await ours.encrypt("one", to: bob)) == "one")
    let answer = try key()
    try await refuse("roomKeys")
    await #expect(throws: DeliveryError.self) { try await ours.take(answer) }
    try await permit()
    #expect(try await ours.open([event("$1")], Shown(bob)) == ["waits"])
    _ = try await ours.take(answer)
    #expect(try await ours.open([event("$2")], Shown(bob)) == ["$2"])
    #expect(try bob.read(try await ours.encrypt("two", to: bob)) == "two")
  }

  private func refuse(_ table: String) async throws {
    try await ours.file.change { database in
      try database.execute(
        sql: "CREATE TRIGGER full BEFORE INSERT ON \(table) BEGIN SELECT RAISE(ABORT, 'the disk is full'); END")
    }
  }

  private func permit() async throws { try await ours.file.change { try $0.execute(sql: "DROP TRIGGER full") } }

  @Test("a session that the other side has lost is replaced when it opens a new one") func lost() async throws {
    #expect(try bob.read(try await ours.encrypt("one", to: bob)) == "one")
    let before = ours.file.openings(by: bob.identity.publicKey)
    bob.olm = nil
    try await ours.meet(bob)
    _ = try await ours.take(key())
    let message = try await ours.encrypt("two", to: bob)
    #expect(try bob.read(message) == "two")
    #expect(before == 0 && message?.openings == 1 && ours.file.openings(by: bob.identity.publicKey) == 1)
    #expect(try await ours.count("olm") == 2, "messages over the former session may be on their way")
  }

  @Test("sessions of a former device of ours are not sent over") func formerDevice() async throws {
    _ = try await ours.encrypt("one", to: bob)
    let other = OwnDevice(
      user: ours.device.user, id: "OTHER", identity: try Curve25519KeyPair(), signing: try Ed25519KeyPair())
    let key = bob.identity.publicKey
    #expect(try await ours.file.unreachable([key], from: other) == [key])
  }

  @Test("a device whose ratchet key is not usable gets nothing, and stops no other") func weakKey() async throws {
    let mallory = try Sender("@mallory:example.org")
    try await ours.meet(mallory)
    _ = try await ours.take(hostile(mallory))
    #expect(try await !ours.isUnreachable(mallory))
    let messages = [mallory, bob].map { DeviceMessage(to: $0.identity.publicKey, of: $0.user, Array("one".utf8)) }
    let session = try OlmSession(
      from: ours.device.identity, to: bob.identity.publicKey, oneTimeKey: bob.oneTime.publicKey)
    let encrypted = try await ours.file.encrypt(
      messages, opened: [bob.identity.publicKey: session], from: ours.device, now: Timestamp(milliseconds: 1))
    #expect(encrypted[0] == nil)
    #expect(try bob.read(encrypted[1]) == "one")
  }

  /// A message that opens a session, with a ratchet key of zeros.
  private func hostile(_ sender: Sender) throws -> JSONValue {
    let (identity, base) = (ours.device.identity.publicKey, try Curve25519KeyPair())
    let oneTime = try #require(sender.olm?.keys.oneTimeKey)
    let secret = try sender.identity.agree(with: oneTime) + base.agree(with: identity) + base.agree(with: oneTime)
    var chain = OlmChain(Derivation.hkdf(secret, info: "OLM_ROOT", count: 64)[32...])
    let zeros = try #require(Curve25519PublicKey(bytes: [UInt8](repeating: 0, count: 32)))
    let message = try OlmMessage.encrypt([], with: chain.next(), ratchetKey: zeros, index: 0)
    let keys = OlmSessionKeys(identityKey: sender.identity.publicKey, baseKey: base.publicKey, oneTimeKey: oneTime)
    return sender.toDevice(ours.device, .preKey(OlmPreKeyMessage.encode(message, keys)))
  }

  @Test("a new session is opened with a member's device whose message cannot be opened, at most once an hour")
  func unreadable() async throws {
    func due(_ now: Int64) async throws -> Set<UnreadableSender> {
      try await ours.file.takeUnreadable(now: Timestamp(milliseconds: now))
    }
    let sender = UnreadableSender(user: bob.user, identityKey: bob.identity.publicKey)
    let hour = KeyFile.reopeningPause
    try await ours.meet(bob)
    bob.olm = try OlmSession(
      from: bob.identity, to: ours.device.identity.publicKey, oneTimeKey: try Curve25519KeyPair().publicKey)
    _ = try await ours.take(key(), at: 1)
    #expect(try await due(2) == [], "a stranger")
    #expect(try await ours.open([event("$1")], Shown(bob)) == ["waits"])
    #expect(try await due(3) == [sender])
    #expect(try await ours.restarted().file.takeUnreadable(now: Timestamp(milliseconds: 4)) == [])
    _ = try await ours.take(key(), at: hour)
    #expect(try await due(hour + 4) == [], "it was on its way")
    _ = try await ours.take(key(), at: hour + 5)
    #expect(try await due(hour + 6) == [sender])
    #expect(try await due(3 * hour) == [])
  }
}
