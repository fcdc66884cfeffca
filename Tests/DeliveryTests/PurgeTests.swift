import Ledgers
import Messages
import Settings
import Spooling
import Testing

@testable import Delivery

@Suite(.timeLimit(.minutes(10))) struct PurgeTests {
  private func quick(_ settings: inout Settings) {
    settings.intake.rescan = .milliseconds(50)
    settings.delivery.probe = .milliseconds(50)
    settings.delivery.uploads = 4
  }

  private func isOrdered(_ daemon: DaemonUnderTest) throws -> Bool { try !daemon.spool.purge.names().isEmpty }

  @Test("A photo whose conversation is purged during its upload is not published, and its object is deleted")
  func uploading() async throws {
    let store = HeldStore { $0 == "purged" }
    let daemon = try DaemonUnderTest(network: ScriptedNetwork(), store: store, preparer: EasyPreparer(), quick)
    try await daemon.run { daemon in
      let request = try daemon.sendPhoto(to: "purged")
      try daemon.draft(to: "purged")
      await store.wait { asked, _ in asked == 2 }
      try daemon.sendPhoto(to: "other")
      await daemon.network.wait { $0.published == 1 }
      try PurgeOrders(daemon.spool).add([ConversationID(unchecked: "purged")])
      // Later requests belong to a new conversation and wait for the end of the purge.
      try daemon.drop("later", to: "purged")
      while try daemon.story(of: request)?.state != .cancelled { await Task.yield() }
      await store.release()
      while try isOrdered(daemon) { await Task.yield() }
      #expect(try daemon.story(of: request) == nil)
      await store.wait { _, kept in kept.allSatisfy { $0.hasPrefix("other/") } }
      #expect(try daemon.spool.cur.names() == [] && daemon.spool.draft.names() == [])
    }
    #expect(await daemon.network.texts(in: "other") == ["photo"])
    #expect(await !daemon.network.texts(in: "purged").contains("photo"))
  }

  @Test("A conversation of the same name begins anew after a purge, and others do not wait for it")
  func again() async throws {
    let daemon = try DaemonUnderTest(network: ScriptedNetwork(), quick)
    try await daemon.run { daemon in
      for round in 1...20 {
        try daemon.drop("\(round)", to: "purged")
        try daemon.drop("\(round)", to: "other")
        await daemon.network.wait { $0.published >= round }
        try PurgeOrders(daemon.spool).add([ConversationID(unchecked: "purged")])
        while try isOrdered(daemon) { await Task.yield() }
      }
      try daemon.drop("last", to: "purged")
      while await daemon.network.texts(in: "purged").last != "last" { await Task.yield() }
      while await daemon.network.texts(in: "other").count < 20 { await Task.yield() }
    }
    #expect(await daemon.network.texts(in: "other") == (1...20).map(String.init))
    let purged = await daemon.network.texts(in: "purged").dropLast().compactMap { Int($0) }
    #expect(purged == purged.sorted() && Set(purged).count == purged.count)
  }
}
