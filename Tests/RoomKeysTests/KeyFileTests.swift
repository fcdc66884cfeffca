import DurableFiles
import Foundation
import GRDB
import Matrix
import Messages
import Olm
import TestSupport
import Testing

@testable import RoomKeys

@Suite struct KeyFileTests {
  private let ours: Ours
  private let bob: Sender

  init() async throws {
    ours = try Ours()
    bob = try Sender("@bob:example.org")
    try await ours.meet(bob)
  }

  /// Bob's key of the room.
  private func key() throws -> JSONValue { try bob.toDevice(ours.device, bob.roomKey(in: Ours.room)) }

  @Test("events open with a key that came before or after them, each once, also for the next process") func opening()
    async throws
  {
    let key = try key()
    let (early, second) = (try bob.event("$1", in: Ours.room), try bob.event("$2", in: Ours.room))
    #expect(try await ours.open([early], Shown(bob)) == ["waits"])
    #expect(try await ours.take(key) == [Ours.room])
    let due = try await ours.again().due(now: Timestamp(milliseconds: 2))
    #expect(due.map(\.id) == ["$1"])
    #expect(try await ours.open([early, second], Shown(bob)) == ["$1", "$2"])
    #expect(try await ours.file.due(now: Timestamp(milliseconds: 2)).isEmpty)
    #expect(try await ours.open([second], Shown(bob)) == ["$2"], "the same event, read again")
    #expect(try await ours.take(key) == [], "the same key, read again")
    let mode = try #require(
      try FileManager.default.attributesOfItem(atPath: ours.scratch.path("keys.sqlite"))[.posixPermissions] as? Int)
    #expect(mode == 0o600)
  }

  @Test("a one-time key opens one session and is gone with it; a fallback key stays") func used() async throws {
    #expect(try await ours.count("offered", "NOT isFallback") == KeyFile.most)
    try await ours.take(key())
    #expect(try await ours.count("offered", "NOT isFallback") == KeyFile.most - 1)
    #expect(try await ours.count("olm") == 1)
    let carol = try Sender("@carol:example.org")
    try await ours.meet(carol, fallback: true)
    try await ours.take(carol.toDevice(ours.device, carol.roomKey(in: Ours.room)))
    #expect(try await ours.count("roomKeys") == 2)
    #expect(try await ours.count("offered", "isFallback") == 1)
  }

  @Test("a member who passes on the session of another one displaces none of its events") func passedOn() async throws {
    let mallory = try Sender("@mallory:example.org")
    mallory.megolm = bob.megolm
    try await ours.meet(mallory)
    try await ours.take(key(), mallory.toDevice(ours.device, mallory.roomKey(in: Ours.room)))
    let bytes = try once()
    let events = [mallory.encrypted("$1", bytes), bob.encrypted("$2", bytes), bob.encrypted("$3", bytes)]
    #expect(try await ours.open(events, Shown(bob, mallory)) == ["once", "once", "it repeats another event"])
  }

  private func once() throws -> [UInt8] {
    try bob.megolm.encrypt(
      Array(#"{"type":"m.room.message","room_id":"\#(Ours.room)","content":{"body":"once"}}"#.utf8))
  }

  @Test("a file of version 1 goes on") func upgrade() async throws {
    try await ours.take(key())
    let bytes = try once()
    let event = bob.encrypted("$1", bytes)
    #expect(try await ours.open([event], Shown(bob)) == ["once"])
    try await ours.file.change { database in
      try database.execute(
        sql: """
          ALTER TABLE opened RENAME TO later;
          CREATE TABLE opened (session TEXT NOT NULL, number INTEGER NOT NULL, event TEXT NOT NULL,
            PRIMARY KEY (session, number)) STRICT, WITHOUT ROWID;
          INSERT INTO opened SELECT session, number, event FROM later;
          DROP TABLE later;
          DROP TABLE unreadable;
          PRAGMA user_version = 1
          """)
    }
    _ = try ours.again()
    let events = [event, bob.encrypted("$2", bytes)]
    #expect(try await ours.open(events, Shown(bob)) == ["once", "it repeats another event"])
    #expect(try await ours.open([bob.event("$3", in: Ours.room)], Shown(bob)) == ["$3"])
  }

  @Test("a file of version 2 goes on, with its sessions") func upgradeOfSessions() async throws {
    try await ours.take(key())
    try await ours.file.change { try $0.execute(sql: "DROP TABLE unreadable; PRAGMA user_version = 2") }
    let next = try ours.restarted()
    #expect(try await next.open([bob.event("$1", in: Ours.room)], Shown(bob)) == ["$1"])
    bob.megolm = try OutboundMegolmSession()
    try await next.take(key())
    #expect(try await next.open([bob.event("$2", in: Ours.room)], Shown(bob)) == ["$2"])
    #expect(try await next.count("unreadable") == 0)
  }

  @Test("removed keys leave no traces in the file") func remains() async throws {
    var random = SeededRandom(seed: 7)
    // SQLite leaves copies behind where rows of several sizes move between pages.
    let rows = (0..<4000).shuffled(using: &random).map { ($0, Int.random(in: 1..<900, using: &random)) }
    try await ours.file.change { database in
      for (number, length) in rows {
        try database.execute(
          sql: """
            INSERT INTO roomKeys (room, session, user, senderKey, fingerprint, key, receivedAt)
              VALUES ('r', ?, 'u', '', '', ?, 0)
            """, arguments: ["s\(number)", "KEY\(number)." + String(repeating: "x", count: length)])
      }
    }
    try await ours.file.change { try $0.execute(sql: "DELETE FROM roomKeys WHERE session LIKE '%7'") }
    let kept = try await ours.count("roomKeys")
    let bytes = try Data(contentsOf: URL(fileURLWithPath: ours.scratch.path("keys.sqlite")))
    let found = String(decoding: bytes, as: UTF8.self).matches(of: /KEY[0-9]+\./).map { String($0.output) }
    #expect(Set(found).count == kept && kept == 3600)
  }

  @Test("what was encrypted for another room, or altered, is refused") func refused() async throws {
    try await ours.take(key())
    let moved = try bob.event("$1", in: Ours.room, inner: "!other:example.org")
    #expect(try await ours.open([moved], Shown(bob)) == ["it was encrypted for another room"])
    var bytes = try bob.megolm.encrypt([1])
    bytes[12] ^= 1
    #expect(try await ours.open([bob.encrypted("$2", bytes)], Shown(bob)) == ["\(OlmError.badSignature)"])
    let noise = try bob.megolm.encrypt([1])
    #expect(try await ours.open([bob.encrypted("$3", noise)], Shown(bob)) == ["its content is not an event"])
    #expect(try await ours.count("waiting") == 0)
  }

  @Test("a key opens events of its sender only") func otherUser() async throws {
    try await ours.take(key())
    let event = try bob.event("$1", in: Ours.room, as: "@mallory:example.org")
    #expect(try await ours.open([event], Shown(bob)) == ["waits"])
  }

  @Test("a key of a device that its user does not have opens nothing") func unknownDevice() async throws {
    try await ours.take(key())
    let event = try bob.event("$1", in: Ours.room)
    #expect(try await ours.open([event], Shown()) == ["waits"])
    #expect(try await ours.file.due(now: Timestamp(milliseconds: 2)).isEmpty, "not at once again")
    #expect(try await ours.file.due(now: Timestamp(milliseconds: 1 + KeyFile.retry)).map(\.id) == ["$1"])
    var other = Shown(bob)
    other.all["\(bob.user) \(bob.identity.publicKey)"] = try Ed25519KeyPair().publicKey
    #expect(try await ours.open([event], other) == ["waits"])
    #expect(try await ours.count("roomKeys") == 0, "its device has another signing key")
  }

  @Test("a sender whose devices cannot be looked up delays no other") func unusableAnswer() async throws {
    let mallory = try Sender("@mallory:example.org")
    try await ours.meet(mallory)
    try await ours.take(key(), mallory.toDevice(ours.device, mallory.roomKey(in: Ours.room)))
    var shown = Shown(bob)
    shown.unusable = [mallory.user]
    let events = [try mallory.event("$1", in: Ours.room), try bob.event("$2", in: Ours.room)]
    #expect(try await ours.open(events, shown) == ["waits", "$2"])
  }

  @Test("an event before the first one that a key opens waits for an earlier form of the key") func early() async throws
  {
    let early = try key()
    let event = try bob.event("$1", in: Ours.room)
    try await ours.take(key())
    #expect(try await ours.open([event], Shown(bob)) == ["waits"])
    #expect(try await ours.file.due(now: Timestamp(milliseconds: 1 << 50)).isEmpty, "nothing has changed")
    try await ours.take(early)
    #expect(try await ours.file.due(now: Timestamp(milliseconds: 2)).map(\.id) == ["$1"])
    #expect(try await ours.open([event], Shown(bob)) == ["$1"])
  }

  @Test("messages to the device for others, from others, forwarded and of rooms not heard give no key") func hostile()
    async throws
  {
    let roomKey = try bob.roomKey(in: Ours.room)
    try await ours.take(
      bob.toDevice(ours.device, roomKey, recipient: "@you:example.org"),
      bob.toDevice(ours.device, roomKey, sender: "@mallory:example.org"),
      bob.toDevice(ours.device, roomKey, type: "m.forwarded_room_key"),
      bob.toDevice(ours.device, bob.roomKey(in: "!other:example.org")),
      bob.toDevice(ours.device, bob.roomKey(in: Ours.room, session: "another")),
      .object(["type": .text("m.room.encrypted")]), .null)
    #expect(try await ours.count("roomKeys") == 0)
    try await ours.take(key())
    #expect(try await ours.count("roomKeys") == 1)
  }

  @Test("a session is replaced only by itself as known from an earlier message") func replaced() async throws {
    let early = try key()
    _ = try bob.megolm.encrypt([])
    let late = try key()
    let mallory = try Sender(bob.user)
    mallory.megolm = bob.megolm
    try await ours.meet(mallory)
    try await ours.take(late)
    _ = try await ours.open([bob.event("$1", in: Ours.room)], Shown(bob))
    try await ours.take(mallory.toDevice(ours.device, mallory.roomKey(in: Ours.room)), early)
    // The first letters encode version and index.
    #expect(
      try await ours.count("roomKeys", "senderKey = '\(bob.identity.publicKey)' AND key LIKE 'AQAAAA%'") == 1)
  }

  @Test("a damaged row hides none of the others") func damaged() async throws {
    let carol = try Sender("@carol:example.org")
    try await ours.meet(carol)
    try await ours.take(key(), carol.toDevice(ours.device, carol.roomKey(in: Ours.room)))
    try await ours.file.change { database in
      try database.execute(
        sql: """
          UPDATE roomKeys SET key = 'x' WHERE user = '@carol:example.org';
          UPDATE olm SET state = '{' WHERE user = '@carol:example.org';
          UPDATE offered SET private = '!' WHERE rowid % 2
          """)
    }
    let events = [try carol.event("$1", in: Ours.room), try bob.event("$2", in: Ours.room)]
    #expect(try await ours.open(events, Shown(bob, carol)) == ["waits", "$2"])
    try await ours.take(carol.toDevice(ours.device, carol.roomKey(in: Ours.room)), key())
    #expect(try await ours.open([carol.event("$3", in: Ours.room)], Shown()) == ["waits"])
    #expect(try await ours.open([bob.encrypted("$4", bob.megolm.encrypt([1]))], Shown(bob)).count == 1)
    try await ours.file.change { database in
      try database.execute(
        sql: """
          UPDATE waiting SET retryAt = 0;
          INSERT INTO waiting SELECT '$0', room, session, user, '{', 0, 0 FROM roomKeys LIMIT 1
          """)
    }
    #expect(try await ours.file.due(now: Timestamp(milliseconds: 9)).map(\.id).contains("$3"))
    #expect(try await ours.count("waiting", "event = '$0'") == 0)
  }

  @Test("a file that is none is refused with a sentence") func noDatabase() throws {
    try Data(repeating: 1, count: 5000).write(to: URL(fileURLWithPath: ours.scratch.path("keys.sqlite")))
    let error = #expect(throws: DeliveryError.self) { try ours.again() }
    #expect(error?.cause == .configError && error?.sentence.contains("keys.sqlite is damaged; move it away") == true)
  }
}
