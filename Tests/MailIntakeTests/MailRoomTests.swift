import DurableFiles
import Foundation
import TestSupport
import Testing

@testable import MailIntake

@Suite(.timeLimit(.minutes(5))) struct MailRoomTests {
  private static let family = "  accept: [{to: family@photos, conversation: family}]\n"

  @Test("A mail becomes a request with its photos, its text and a key, and is gone") func taken() async throws {
    let test = try MailRoomUnderTest(Self.family)
    try test.deliver(
      MailRoomUnderTest.mail(to: "Family@PHOTOS", fields: "Subject: Door\nMessage-ID: <1@x>\n", photos: 2),
      as: "1795.M1P2.vm,S=9")
    try await test.room.empty()
    let requests = try test.requests()
    try #require(requests.count == 1)
    #expect(requests[0].name.hasSuffix("-1795.M1P2.vm-S-9"))
    #expect(requests[0].files.keys.sorted() == [".sum", "id", "photo-00", "photo-01", "text", "to"])
    #expect(requests[0].files["text"] == "Door\nSomebody is at the door")
    #expect(requests[0].files["to"] == "family\n")
    #expect(requests[0].files["id"]?.hasPrefix("mail.") == true)
    #expect(try test.waiting() == [])
    #expect(test.room.counts == MailRoom.Counts(taken: 1))
  }

  @Test("The same mail again has the same key, and other contents have another") func keys() async throws {
    let test = try MailRoomUnderTest(Self.family)
    func key(_ mail: String, _ name: String) async throws -> String? {
      try test.deliver(mail, as: name)
      try await test.room.empty()
      return try test.requests().last?.files["id"]
    }
    let mail = MailRoomUnderTest.mail(to: "family@photos", fields: "Message-ID: <1@x>\n", photos: 1)
    let first = try await key(mail, "a")
    #expect(try await key(mail, "b") == first)
    #expect(try await key(mail.replacing("door", with: "gate"), "c") != first)
    let nameless = MailRoomUnderTest.mail(to: "family@photos", photos: 1)
    #expect(try await key(nameless, "d") != key(nameless, "e"))
  }

  @Test("Each known address gets a request, once for a goal, and unknown ones none") func recipients() async throws {
    let test = try MailRoomUnderTest(
      """
        accept:
          - {to: [family@photos, all@photos], conversation: family}
          - {to: "cam-*@photos", conversation: "{local}", inbox: garden}

      """)
    try test.deliver(MailRoomUnderTest.mail(to: "family@photos, all@photos, Cam-Door+x@photos, who@else", photos: 1))
    try await test.room.empty()
    let requests = try test.requests().map(\.files)
    #expect(requests.map { $0["to"] } == ["family\n", "cam-door\n"])
    #expect(requests.map { $0["from"] } == [nil, "garden\n"])
  }

  @Test("More than ten photos are several requests, with the text in the last") func many() async throws {
    let test = try MailRoomUnderTest(Self.family)
    try test.deliver(MailRoomUnderTest.mail(to: "family@photos", photos: 13))
    try await test.room.empty()
    let requests = try test.requests().map(\.files)
    #expect(requests.map { $0.keys.count { $0.hasPrefix("photo") } } == [10, 3])
    #expect(requests.map { $0["text"] } == [nil, "Somebody is at the door"])
    #expect(requests.last?["id"]?.hasSuffix(".2\n") == true)
  }

  @Test("A refused mail is kept in failed/ with the reason, and its conversation if that is known")
  func refused() async throws {
    let test = try MailRoomUnderTest(Self.family)
    try test.deliver(MailRoomUnderTest.mail(to: "who@else", photos: 1), as: "a")
    try test.deliver("To: family@photos\nAuto-Submitted: auto-replied\n\nAway", as: "b")
    let large = "To: family@photos\nContent-Type: image/jpeg\n\n\u{0}"
    try test.deliver(large, as: "c")
    try await test.room.empty()
    let failed = test.spool.failed
    #expect(try failed.names() == ["a", "b", "c"])
    #expect(try failed.directory("a").names() == ["error", "mail"])
    #expect(
      try failed.directory("a").error() == "no rule of mail.accept knows who@else; add one, or correct the address")
    #expect(try failed.directory("b").names() == ["error", "mail", "to"])
    #expect(try failed.directory("b").error()?.contains("automatic answer") == true)
    #expect(try failed.directory("c").error()?.contains("neither photo nor text") == true)
    #expect(try test.requests().isEmpty)
    #expect(test.room.counts.refused == [.address: 1, .answer: 1, .contents: 1])
  }

  @Test("A refused mail for several conversations names each of them, for a purge")
  func refusedForSeveral() async throws {
    let test = try MailRoomUnderTest("  accept: [{to: \"*@photos\", conversation: \"{local}\"}]\n")
    try test.deliver("To: a@photos, A+x@photos, b@photos, who@else\nContent-Type: video/mp4\n\n\u{0}", as: "mail")
    try await test.room.empty()
    let refused = try test.spool.failed.directory("mail")
    #expect(try refused.field("to") == "a\nb")
    #expect(try ["a", "b", "c"].map { try refused.isRefusedMail(for: $0) } == [true, true, false])
    // A request may name several, too, and was for none of them.
    let request = try test.spool.failed.directory(creating: "request")
    try request.write(Array("a\nb\n".utf8), as: "to")
    #expect(try !request.isRefusedMail(for: "a"))
  }

  @Test("A mail without a photo is dropped where its rule says so") func dropped() async throws {
    let test = try MailRoomUnderTest(
      """
        accept:
          - {to: cam@photos, conversation: cam, withoutPhoto: drop}
          - {to: family@photos, conversation: family}

      """)
    try test.deliver("To: cam@photos\n\nHealth: fine", as: "a")
    try test.deliver("To: cam@photos, family@photos\n\nHealth: fine", as: "b")
    try await test.room.empty()
    #expect(try test.requests().map { $0.files["to"] } == ["family\n"])
    #expect(test.room.counts == MailRoom.Counts(taken: 1, dropped: 1))
    #expect(try test.waiting() == [] && test.spool.failed.names() == [])
  }

  @Test("A rule takes so many mails an hour, and a purge takes all") func perHour() async throws {
    let test = try MailRoomUnderTest(
      """
        perHour: 2
        accept:
          - {to: cam@photos, conversation: cam}
          - {to: family@photos, conversation: family}

      """)
    func deliver(_ name: String, to: String = "cam") throws {
      try test.deliver("To: \(to)@photos\n\n\(name)", as: name)
    }
    func texts() throws -> [String?] { try test.requests().map { $0.files["text"] } }
    for name in ["a", "b", "c"] { try deliver(name) }
    try deliver("d", to: "family")
    try await test.room.take(nil)
    #expect(try texts() == ["a", "b", "d"])
    try deliver("e")
    try deliver("f", to: "family")
    try await test.room.take([Array("e".utf8), Array("f".utf8)])
    #expect(try texts() == ["a", "b", "d", "f"])
    #expect(try test.waiting() == ["c", "e"])
    try await test.room.empty()
    #expect(try texts() == ["a", "b", "d", "f", "c", "e"])
  }

  @Test("Waiting mails come before later ones, and go on after an hour") func allowance() throws {
    var allowance = MailAllowance()
    let rules = Set(try MailRoomUnderTest(Self.family).settings.mailRules)
    let now = ContinuousClock.now
    let later = now + .seconds(3601)
    func admits(_ name: UInt8, perHour: Int = 1, isScan: Bool, _ now: ContinuousClock.Instant) -> Bool {
      let isAdmitted = allowance.admit([name], for: rules, perHour: perHour, isScan: isScan, now: now)
      if isAdmitted { allowance.took(rules, perHour: perHour, now: now) }
      return isAdmitted
    }
    let first = [admits(1, isScan: true, now), admits(2, isScan: true, now + .seconds(1))]
    #expect(first == [true, false])
    let waits = [now + .seconds(3599), later].map { allowance.isWaiting([2], perHour: 1, now: $0) }
    #expect(waits == [true, false])
    // The third one is told first.
    let second = [admits(3, isScan: false, later), admits(2, isScan: true, later), admits(3, isScan: true, later)]
    #expect(second == [false, true, false])
    // A mail that could not be taken after all uses no place.
    let again = [1, 1].map { allowance.admit([$0], for: rules, perHour: 1, isScan: true, now: later + .seconds(3601)) }
    #expect(again == [true, true])
    allowance.keep([])
    let isForgotten = !allowance.isWaiting([3], perHour: 1, now: later)
    #expect(isForgotten)
    let isFree = admits(4, perHour: 0, isScan: false, later)
    #expect(isFree)
  }

  @Test("The process that parses stays for the next mails, and ends when none come", arguments: [60_000, 20])
  func idle(milliseconds: Int) async throws {
    let scratch = try TemporaryDirectory()
    let (program, processes) = (scratch.path("program"), scratch.path("processes"))
    let script = "#!/bin/sh\necho $$ >> \(processes)\nexec \(MailRoomUnderTest.program) \"$@\"\n"
    try Data(script.utf8).write(to: URL(fileURLWithPath: program))
    try #require(chmod(program, 0o700) == 0)
    let test = try MailRoomUnderTest(Self.family, program: program, idle: .milliseconds(milliseconds))
    func started() throws -> [pid_t] {
      try String(contentsOfFile: processes, encoding: .utf8).split(separator: "\n").compactMap { pid_t($0) }
    }
    try test.deliver("To: family@photos\n\nOne", as: "a")
    try await test.room.take(nil)
    let process = try #require(try started().first)
    if milliseconds == 20 {
      while kill(process, 0) == 0 { await Task.yield() }
    }
    try test.deliver("To: family@photos\n\nTwo", as: "b")
    try await test.room.take(nil)
    #expect(try started().count == (milliseconds == 20 ? 2 : 1))
    #expect(try test.requests().count == 2)
  }

  @Test("Directories and links are refused, and names with a dot are left") func foreign() async throws {
    let test = try MailRoomUnderTest(Self.family)
    let places = try test.spool.root.directory("mail").directory("new")
    _ = try places.make("directory")
    try test.deliver("To: family@photos\n\nHi", as: ".hidden")
    try await test.room.empty()
    #expect(try test.waiting() == [".hidden"])
    #expect(try test.spool.failed.names() == ["directory"])
  }
}
