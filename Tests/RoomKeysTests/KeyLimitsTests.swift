import GRDB
import Matrix
import Messages
import Testing

@testable import RoomKeys

@Suite struct KeyLimitsTests {
  private let ours: Ours

  init() throws { ours = try Ours() }

  /// Rows as `count` users would fill them with `each`, oldest first.
  private func fill(_ users: Int, each: Int, isMember: Bool = false, from start: Int = 0) async throws {
    try await ours.file.change { database in
      for user in 0..<users {
        for number in 0..<each {
          try database.execute(
            sql: """
              INSERT INTO roomKeys (room, session, user, senderKey, fingerprint, isMember, key, receivedAt)
                VALUES (?, ?, ?, '', '', ?, '', ?)
              """,
            arguments: [Ours.room, "s\(user)-\(number)", "@u\(start + user):example.org", isMember, number])
        }
      }
    }
  }

  @Test("strangers push out no key of a member, and no key that just came") func strangers() async throws {
    let bob = try Sender("@bob:example.org")
    try await ours.meet(bob)
    try await ours.take(bob.toDevice(ours.device, bob.roomKey(in: Ours.room)))
    try await fill(600, each: 1)
    try await ours.file.note([bob.user], of: Ours.room)
    try await ours.file.prune(now: Timestamp(milliseconds: 9))
    #expect(try await ours.count("roomKeys") == KeyFile.mostOfStrangers + 1)
    #expect(try await ours.count("olm", "isMember") == 1)
    #expect(try await ours.open([bob.event("$1", in: Ours.room)], Shown(bob)) == ["$1"])
  }

  @Test("a new session of a member counts as one at once, and so does whoever sent an event that opens") func members()
    async throws
  {
    let (bob, carol) = (try Sender("@bob:example.org"), try Sender("@carol:example.org"))
    for sender in [bob, carol] { try await ours.meet(sender) }
    try await ours.take(bob.toDevice(ours.device, bob.roomKey(in: Ours.room)))
    try await ours.file.note([bob.user], of: Ours.room)
    try await ours.meet(bob)
    try await ours.take(bob.toDevice(ours.device, bob.roomKey(in: Ours.room)))
    #expect(try await ours.count("olm", "isMember AND user = '\(bob.user)'") == 2)
    try await ours.take(carol.toDevice(ours.device, carol.roomKey(in: Ours.room)))
    #expect(try await ours.count("olm", "isMember AND user = '\(carol.user)'") == 0)
    #expect(try await ours.open([carol.event("$1", in: Ours.room)], Shown(carol)) == ["$1"])
    #expect(try await ours.count("olm", "isMember AND user = '\(carol.user)'") == 1)
    #expect(try await ours.count("roomKeys", "isMember AND user = '\(carol.user)'") == 1)
  }

  @Test("the user with most keys loses first, and last the keys that are waited for or of use") func fairness()
    async throws
  {
    try await fill(1, each: KeyFile.mostRoomKeys, isMember: true)
    try await fill(2, each: 2, isMember: true, from: 1)
    try await ours.file.change { database in
      try database.execute(sql: "UPDATE roomKeys SET usedAt = 1 WHERE session = 's0-0' AND user = '@u0:example.org'")
      try database.execute(
        sql: """
          INSERT INTO waiting (event, room, session, user, body, receivedAt, retryAt)
            VALUES ('$1', ?, 's0-1', '@u0:example.org', '{}', 1, 1)
          """, arguments: [Ours.room])
    }
    try await ours.file.prune(now: Timestamp(milliseconds: 9))
    #expect(try await ours.count("roomKeys") == KeyFile.mostRoomKeys)
    #expect(try await ours.count("roomKeys", "user <> '@u0:example.org'") == 4)
    #expect(try await ours.count("roomKeys", "user = '@u0:example.org' AND session IN ('s0-0', 's0-1')") == 2)
    #expect(try await ours.count("roomKeys", "user = '@u0:example.org' AND session IN ('s0-2', 's0-5')") == 0)
  }

  @Test("of users with equally many keys those go first whose keys opened nothing") func useless() async throws {
    try await fill(KeyFile.mostRoomKeys + 10, each: 1, isMember: true)
    try await ours.file.change { database in
      try database.execute(sql: "UPDATE roomKeys SET usedAt = 1 WHERE session < 's2'")
    }
    let used = try await ours.count("roomKeys", "usedAt IS NOT NULL")
    try await ours.file.prune(now: Timestamp(milliseconds: 9))
    #expect(try await ours.count("roomKeys", "usedAt IS NOT NULL") == used)
    #expect(try await ours.count("roomKeys") == KeyFile.mostRoomKeys)
  }

  @Test("events wait for a week at most, and one sender fills no more than is left") func waiting() async throws {
    let (mallory, bob) = (try Sender("@mallory:example.org"), try Sender("@bob:example.org"))
    #expect(try await ours.open([bob.event("$bob", in: Ours.room)], Shown()) == ["waits"])
    let flood = try (0..<KeyFile.mostWaiting + 50).map { try mallory.event("$\($0)", in: Ours.room) }
    _ = try await ours.open(flood, Shown(), at: 2)
    try await ours.file.prune(now: Timestamp(milliseconds: 9))
    #expect(try await ours.count("waiting") == KeyFile.mostWaiting)
    #expect(try await ours.count("waiting", "event = '$bob'") == 1)
    try await ours.file.prune(now: Timestamp(milliseconds: KeyFile.patience + 3))
    #expect(try await ours.count("waiting") == 0)
  }
}
