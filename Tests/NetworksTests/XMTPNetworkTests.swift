import Digests
import Messages
import TestSupport
import Testing

@testable import Networks

/// Messages arrive at a relay once and in order, with kills, outages and delays.
@Suite(.serialized, .timeLimit(.minutes(10))) struct XMTPNetworkTests {
  private let photo = [UInt8]((0..<5000).map { UInt8(truncatingIfNeeded: $0 &* 31) })

  /// Sends a message with a kill at `moment`, and publishes it twice more under the same reserved id.
  private func send(
    _ message: OutgoingMessage, as sender: XMTPNetwork, killedAt moment: XMTPWorld.Moment, in world: XMTPWorld
  ) async throws -> [Publication] {
    if moment.isOfReserving { try await world.kill(sender, at: moment) { _ = try await sender.reserve(message) } }
    let reserved = message.reserved(as: try await sender.reserve(message))
    if !moment.isOfReserving { try await world.kill(sender, at: moment) { _ = try await sender.publish(reserved) } }
    var publications: [Publication] = []
    for _ in 1...3 { publications.append(try await sender.publish(reserved)) }
    return publications
  }

  @Test(
    "A photo and a text arrive once, in order and whole, wherever the co-process is killed",
    arguments: XMTPWorld.Moment.allCases)
  func once(_ moment: XMTPWorld.Moment) async throws {
    let world = try await XMTPWorld()
    try world.halt(at: nil)
    let sender = world.sender { $0.program = pythonScript("xmtp_halting.py") }
    let (group, id) = try await world.group(with: sender)
    let (content, object) = try world.photo(photo)
    let photos = try await send(world.message("m1", content, to: group), as: sender, killedAt: moment, in: world)
    let texts = try await send(
      world.message("m2", .text("Check this out! 📷"), to: group), as: sender, killedAt: moment, in: world)

    let received = try await world.received()
    #expect(received.map(\.type) == ["remoteStaticAttachment", "text"])
    #expect(received.map(\.id) == [photos[0].remoteID, texts[0].remoteID])
    #expect(received.map(\.text) == [nil, "Check this out! 📷"])
    #expect(try await world.envelopes(of: id) == 2)
    // The result is the same each time, and is what arrived.
    #expect(Set(photos.map(\.attachment)).count == 1 && texts.allSatisfy { $0.attachment == nil })
    guard case .photo(let attachment) = content else { return }
    #expect(photos[0].attachment == attachment)
    try await expect(received[0], is: attachment, of: photo, in: object, world)
    await sender.stop()
  }

  private func expect(
    _ received: XMTPWorld.Received, is attachment: Messages.Attachment, of photo: [UInt8], in object: String,
    _ world: XMTPWorld
  ) async throws {
    let sent = try #require(received.attachment)
    #expect(sent.url == attachment.url && sent.filename == "photo.jpg" && sent.scheme == "https://")
    #expect(received.fallback.contains("photo.jpg"))
    let parameters: [String: any Sendable] = [
      "contentDigest": sent.contentDigest, "secret": sent.secret, "salt": sent.salt, "nonce": sent.nonce,
      "contentLength": sent.contentLength,
    ]
    let opened = try await world.reader.order("open", ["object": object, "attachment": parameters])
    #expect(opened == ["filename": "photo.jpg", "mimeType": "image/jpeg", "sha256": SHA256Digest(of: photo).hex])
  }

  @Test("After a crash the earlier upload that was reserved is published, and said to be")
  func earlierUpload() async throws {
    let world = try await XMTPWorld()
    let sender = world.sender()
    let (first, _) = try world.photo(photo, object: "first")
    let message = world.message("m1", first, to: world.directly)
    let reserved = try await sender.reserve(message)
    await sender.stop()
    let (second, _) = try world.photo(photo, object: "second")
    let publication = try await world.sender()
      .publish(world.message("m1", second, to: world.directly, reserved: reserved))
    guard case .photo(let earlier) = first else { return }
    #expect(publication.attachment == earlier)
    #expect(try await world.received().map(\.attachment?.url) == [earlier.url])
  }

  @Test("Messages that wait while the relay is down go out in order when it recovers")
  func down() async throws {
    let world = try await XMTPWorld()
    let sender = world.sender()
    let (group, id) = try await world.group(with: sender)
    _ = try await world.send(world.message("m1", .text("one"), to: group), as: sender)
    let second = world.message("m2", .text("two"), to: group)
    let reserved = second.reserved(as: try await sender.reserve(second))
    _ = try await world.relay.order("down")
    await sender.stop()
    let fresh = world.sender()
    await #expect { try await fresh.publish(reserved) } throws: { $0.cause == .network }
    // Without a relay nothing is sent, and nobody waits.
    await #expect { try await fresh.publish(reserved) } throws: {
      $0.cause == .unreachable && "\($0)".contains(world.endpoint)
    }
    #expect(try await !fresh.standing().isReachable)
    // A reservation needs no network, even after a start without one.
    let third = world.message("m3", .text("three"), to: group)
    let alsoReserved = third.reserved(as: try await fresh.reserve(third))
    _ = try await world.relay.order("up")
    _ = try await fresh.publish(reserved)
    _ = try await fresh.publish(alsoReserved)
    #expect(try await world.received().map(\.text) == ["one", "two", "three"])
    #expect(try await world.envelopes(of: id) == 3)
  }

  @Test("Conversations go on side by side, and each keeps its order")
  func manyConversations() async throws {
    let world = try await XMTPWorld()
    let sender = world.sender()
    var groups: [Address] = [world.directly]
    for _ in 0..<3 { groups.append(try await world.group(with: sender).0) }
    try await withThrowingTaskGroup(of: Void.self) { tasks in
      for (index, group) in groups.enumerated() {
        tasks.addTask {
          for number in 0..<10 {
            let name = "\(index)-\(number)"
            _ = try await world.send(world.message(name, .text(name), to: group), as: sender)
          }
        }
      }
      try await tasks.waitForAll()
    }
    let texts = try await world.received().compactMap(\.text)
    for index in groups.indices {
      #expect(texts.filter { $0.hasPrefix("\(index)-") } == (0..<10).map { "\(index)-\($0)" })
    }
    #expect(texts.count == 40)
  }

  @Test("A person is reached by inbox id and by address, as the same conversation")
  func direct() async throws {
    let world = try await XMTPWorld()
    let sender = world.sender()
    let byAddress = Address(unchecked: "dm:\(world.readerAddress)")
    _ = try await world.send(world.message("m1", .text("one"), to: world.directly), as: sender)
    _ = try await world.send(world.message("m2", .text("two"), to: byAddress), as: sender)
    let received = try await world.received()
    #expect(received.map(\.text) == ["one", "two"])
    #expect(Set(received.map(\.sender)) == [try await sender.standing().inbox])
    #expect(try await sender.standing(of: byAddress).knowsConversation == true)
  }

  @Test("A relay that takes a message and does not answer is a time-out, and the message is not sent again")
  func timeout() async throws {
    let world = try await XMTPWorld()
    // Enough to register on a busy machine.
    let sender = world.sender(seconds: 10)
    let (group, id) = try await world.group(with: sender)
    let message = world.message("m1", .text("one"), to: group)
    let reserved = message.reserved(as: try await sender.reserve(message))
    try await world.hold("after")
    await #expect { try await sender.publish(reserved) } throws: { $0.cause == .timeout }
    try await world.release()
    _ = try await sender.publish(reserved)
    #expect(try await world.received().map(\.text) == ["one"])
    #expect(try await world.envelopes(of: id) == 1)
  }

  @Test("A reserved message is found, or published if it was not; one that was not reserved is absent")
  func find() async throws {
    let world = try await XMTPWorld()
    let sender = world.sender()
    let (group, id) = try await world.group(with: sender)
    let (content, _) = try world.photo(photo)
    let message = world.message("m1", content, to: group)
    func tried(_ reserved: String?) -> TriedMessage {
      TriedMessage("m1", to: group.text, reserved: reserved, photo: (3, 4))
    }
    #expect(try await sender.find(tried(nil)) == .absent)
    let reserved = try await sender.reserve(message)
    await sender.stop()
    let fresh = world.sender()
    let found = try await fresh.find(tried(reserved))
    #expect(found == .published(try await fresh.publish(message.reserved(as: reserved))))
    guard case .photo(let attachment) = content, case .published(let publication) = found else { return }
    #expect(publication.attachment == attachment)
    #expect(try await world.received().map(\.attachment?.url) == [attachment.url])
    #expect(try await world.envelopes(of: id) == 1)
  }
}
