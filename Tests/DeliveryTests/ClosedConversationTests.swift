import Messages
import Testing

@testable import Delivery

@Suite(.timeLimit(.minutes(10))) struct ClosedConversationTests {
  @Test("Nothing of a photo is uploaded for a conversation that is closed; it waits alone, and nothing of it fails")
  func photo() async throws {
    let (network, store) = (ScriptedNetwork(), HeldStore())
    await network.close(["closed", "closed too"])
    let daemon = try DaemonUnderTest(network: network, store: store, preparer: EasyPreparer()) {
      $0.delivery.mending = .hours(1)
      $0.delivery.backoff = RetryPolicy(first: .milliseconds(10), longest: .milliseconds(50))
    }
    try await daemon.run { daemon in
      let waiting = [try daemon.sendPhoto(to: "closed"), try daemon.sendPhoto(to: "closed too")]
      let text = try daemon.drop("behind it", to: "closed")
      await network.wait { $0.refused >= 2 }
      try daemon.sendPhoto(to: "open")
      await network.wait { $0.published == 1 }
      for name in waiting {
        while try daemon.story(of: name)?.messages.first?.cause == nil { await Task.yield() }
        let message = try #require(try daemon.story(of: name)?.messages.first)
        #expect(message.cause == "encrypted_room" && message.state == .pending)
      }
      #expect(await store.asked == 1)
      // A photo is begun ahead and once more in its turn.
      #expect(await network.refused <= 4, "it is not asked for before somebody can have mended it")
      await network.close([])
      while await network.published.count < 4 {
        _ = try? await daemon.ask(.flush)
        await Task.yield()
      }
      #expect(await network.texts(in: "closed") == ["photo", "behind it"])
      while try daemon.spool.sent.entry(text) == nil { await Task.yield() }
    }
  }

  @Test("A text that the network would refuse fails its request before the photo is published")
  func longText() async throws {
    let (network, store) = (ScriptedNetwork(), HeldStore())
    let daemon = try DaemonUnderTest(network: network, store: store, preparer: EasyPreparer())
    try await daemon.run { daemon in
      let name = try daemon.sendPhoto(to: "c", text: "too long")
      try daemon.sendPhoto(to: "c", text: "short")
      await network.wait { $0.published == 2 }
      while try daemon.spool.failed.entry(name) == nil { await Task.yield() }
      #expect(await network.texts(in: "c") == ["photo", "short"])
      #expect(try daemon.story(of: name)?.messages.first?.error == "the text is too long")
      await store.wait { _, kept in kept.count == 1 }
    }
  }

  @Test("A text to a closed conversation holds this conversation and no other one, however many there are")
  func text() async throws {
    let network = ScriptedNetwork {
      $0.address.text.hasPrefix("closed") ? DeliveryError(.encryptedRoom, "the room is encrypted") : nil
    }
    let daemon = try DaemonUnderTest(network: network) { $0.delivery.mending = .hours(1) }
    try await daemon.run { daemon in
      for number in 0..<5 { try daemon.drop("held", to: "closed \(number)") }
      await network.wait { $0.asked >= 5 }
      for number in 0..<20 { try daemon.drop("\(number)", to: "open \(number % 4)") }
      await network.wait { $0.published == 20 }
      let asked = await network.asked
      #expect(asked == 25)
    }
  }

  @Test("What a network stores for a message that is cancelled is removed at once")
  func cancelled() async throws {
    let network = ScriptedNetwork { _ in DeliveryError(.encryptedRoom, "the room is encrypted") }
    let daemon = try DaemonUnderTest(network: network) { $0.delivery.mending = .hours(1) }
    try await daemon.run { daemon in
      let (name, other) = (try daemon.drop("a", to: "a"), try daemon.drop("b", to: "b"))
      await network.wait { $0.asked >= 2 }
      let messages = try [name, other].map {
        MessageID(unchecked: try #require(try daemon.story(of: $0)?.messages.first?.message))
      }
      await network.store(Set(messages))
      _ = try await daemon.ask(.cancel([name]))
      while await network.stored.count > 1 { await Task.yield() }
      #expect(await network.stored == [messages[1]])
    }
  }
}
