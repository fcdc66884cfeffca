import DurableFiles
import Messages
import Settings
import Spooling
import Testing

@testable import Delivery

@Suite(.timeLimit(.minutes(10))) struct DraftUploadTests {
  private func quick(_ settings: inout Settings) {
    settings.delivery.probe = .milliseconds(50)
    settings.delivery.backoff = RetryPolicy(first: .milliseconds(10), longest: .milliseconds(50))
    settings.delivery.uploads = 2
  }

  @Test("While a store cannot be reached drafts wait, and go ahead once it can, and nothing of them is published")
  func outage() async throws {
    let store = HeldStore(fault: DeliveryError(.unreachable, "there is no route"))
    let daemon = try DaemonUnderTest(network: ScriptedNetwork(), store: store, preparer: EasyPreparer(), quick)
    try await daemon.run { daemon in
      for number in 0..<4 { try daemon.draft(to: "c\(number)") }
      await store.wait { asked, _ in asked >= 3 }
      await store.mend()
      await store.wait { _, kept in kept.count == 4 }
      #expect(await daemon.network.asked == 0)
    }
  }

  @Test(
    "A photo that could not be uploaded ahead of its turn is tried anew when its turn comes, as if nothing had been")
  func failedAhead() async throws {
    let store = HeldStore(fault: DeliveryError(.network, "the connection was lost"))
    let daemon = try DaemonUnderTest(network: ScriptedNetwork(), store: store, preparer: EasyPreparer(), quick)
    try await daemon.run { daemon in
      let first = try daemon.sendPhoto(to: "family")
      let second = try daemon.sendPhoto(to: "family")
      await store.wait { asked, _ in asked >= 4 }
      await store.mend()
      await daemon.network.wait { $0.published == 2 }
      while try daemon.story(of: second)?.state != .sent { await Task.yield() }
      #expect(try #require(try daemon.story(of: first)?.messages.first).attempts.count >= 2)
      #expect(try #require(try daemon.story(of: second)?.messages.first).attempts.count == 1)
    }
  }

  @Test("Uploads of drafts that never end hold up nothing that is sent, be it a draft itself")
  func slow() async throws {
    let store = HeldStore { $0.hasPrefix("slow") }
    let daemon = try DaemonUnderTest(network: ScriptedNetwork(), store: store, preparer: EasyPreparer(), quick)
    try await daemon.run { daemon in
      for number in 0..<6 { try daemon.draft(to: "slow \(number)") }
      await store.wait { asked, _ in asked == 1 }
      let waiting = try daemon.draft(to: "quick")
      while try daemon.story(of: waiting) == nil { await Task.yield() }
      try daemon.sendPhoto(to: "other")
      #expect(try daemon.spool.draft.move(waiting, to: daemon.spool.new, as: waiting))
      await daemon.network.wait { $0.published == 2 }
      #expect(await Set(daemon.network.published.map(\.address.text)) == ["quick", "other"])
      // Drafts use only one of the two places.
      #expect(await store.asked == 3)
      await store.release()
    }
  }

  @Test("A draft that is removed while its upload does not end leaves nothing, and the next one takes its place")
  func removed() async throws {
    let store = HeldStore { $0.hasPrefix("slow") }
    let daemon = try DaemonUnderTest(network: ScriptedNetwork(), store: store, preparer: EasyPreparer(), quick)
    try await daemon.run { daemon in
      let slow = try daemon.draft(to: "slow")
      await store.wait { asked, _ in asked == 1 }
      let reply = try await daemon.ask(.cancel([slow]))
      #expect(reply?.outcomes.map(\.isDone) == [true])
      #expect(try daemon.spool.draft.entry(slow) == nil)
      try daemon.draft(to: "quick")
      await store.release()
      await store.wait { _, kept in kept.count == 1 && kept.allSatisfy { $0.hasPrefix("quick/") } }
    }
  }

  @Test("Without any scan, a photo added to a draft is uploaded, and one removed from it is deleted from the store")
  func changedAtOnce() async throws {
    let store = HeldStore { $0.hasPrefix("slow") }
    let daemon = try DaemonUnderTest(network: ScriptedNetwork(), store: store, preparer: EasyPreparer()) {
      quick(&$0)
      $0.delivery.uploads = 8
      $0.intake.rescan = .days(1)
    }
    let names = try ["quick", "slow"].map { try daemon.draft(to: $0) }
    try await daemon.run { daemon in
      await store.wait { asked, kept in asked == 2 && kept.count == 1 }
      let (quick, slow) = (try daemon.spool.draft.directory(names[0]), try daemon.spool.draft.directory(names[1]))
      try quick.write([4, 5, 6], as: "photo-added")
      await store.wait { _, kept in kept.count == 2 }
      try quick.remove("photo-added")
      await store.wait { _, kept in kept.count == 1 }
      // The upload of the other one is in progress.
      for file in try slow.names() where file.hasPrefix("photo") { try slow.remove(file) }
      try slow.write([4, 5, 6], as: "photo-added")
      await store.wait { asked, _ in asked == 4 }
      await store.release()
      while await store.deleted < 2 { await Task.yield() }
      await store.wait { _, kept in kept.count == 2 && kept.contains { $0.hasPrefix("slow/") } }
    }
  }
}

extension DaemonUnderTest {
  @discardableResult
  func draft(to conversation: String) throws -> String { try drop(conversation, isDraft: true) }

  @discardableResult
  func sendPhoto(to conversation: String, text: String? = nil) throws -> String {
    try drop(conversation, text: text, isDraft: false)
  }

  private func drop(_ conversation: String, text: String? = nil, isDraft: Bool) throws -> String {
    let photo = scratch.path("photo")
    try Directory(path: scratch.path).write([1, 2, 3], as: "photo")
    return try Submission(
      to: ConversationID(conversation), from: nil, key: nil, text: text, photos: [File(reading: photo)],
      isDraft: isDraft
    ).drop(into: spool.path).text
  }
}
