import Digests
import Messages
import Seals
import TestSupport
import Testing

@testable import Networks

@Suite(.serialized, .timeLimit(.minutes(10))) struct XMTPProfileTests {
  private let photo = [UInt8]((0..<5000).map { UInt8(truncatingIfNeeded: $0 &* 29) })
  private let key = [UInt8]((0..<32).map { $0 * 7 })

  /// The app data of a group with an image key.
  private var appData: String { ([0x22, 0x20] + key).unpaddedBase64URL }

  private func group(
    with sender: XMTPNetwork, appData: String, in world: XMTPWorld
  ) async throws -> (Address, id: String) {
    let (group, id) = try await world.group(with: sender)
    _ = try await world.reader.order("appData", ["group": id, "text": appData])
    return (group, id)
  }

  private func sealed(for group: Address, by sender: XMTPNetwork) async throws -> Messages.Attachment {
    let seal = try #require(try await sender.profileSeal(for: group))
    let sealed = try seal.seal(
      PhotoFile(bytes: photo, filename: "photo.jpg", mimeType: "image/jpeg", width: 3, height: 4))
    return sealed.facts.attachment(at: "https://photos.example/\(sealed.digest.hex)")
  }

  @Test(
    "A change is told once wherever it is cut off, and found again",
    arguments: XMTPWorld.Moment.allCases.filter { !$0.isOfReserving })
  func once(_ moment: XMTPWorld.Moment) async throws {
    let world = try await XMTPWorld()
    try world.halt(at: nil)
    let sender = world.sender { $0.program = pythonScript("xmtp_halting.py") }
    let (group, id) = try await group(with: sender, appData: appData, in: world)
    let attachment = try await sealed(for: group, by: sender)
    let message = world.message("m1", .profile(attachment), to: group)
    let reserved = try await sender.reserve(message)
    try await world.kill(sender, at: moment) { _ = try await sender.publish(message.reserved(as: reserved)) }
    // As the next daemon, which has only the reserved id, and has another group now.
    await sender.stop()
    let fresh = world.sender()
    for _ in 1...2 {
      let tried = TriedMessage("m1", to: "group:ab", reserved: reserved, photo: (3, 4))
      guard case .published(let publication) = try await fresh.find(tried) else {
        Issue.record("it is not published")
        return
      }
      #expect(publication.attachment == attachment)
      #expect(try await world.received().map(\.id) == [publication.remoteID])
    }
    let received = try await world.received()
    #expect(received.map { $0.profile?["url"] } == [attachment.url] && received.allSatisfy(\.fallback.isEmpty))
    #expect(try await world.envelopes(of: id) == 1)
  }

  @Test("The reservation of a change does not open the photo")
  func reservedKeys() async throws {
    let world = try await XMTPWorld()
    let sender = world.sender()
    let (group, _) = try await group(with: sender, appData: appData, in: world)
    let attachment = try await sealed(for: group, by: sender)
    let reserved = try #require(try await sender.reserve(world.message("m1", .profile(attachment), to: group)))
    #expect(attachment.secret == nil && !reserved.contains(key.hex) && !reserved.contains("secret"))
  }

  @Test("A group whose data is not of the Convos app is refused")
  func otherData() async throws {
    let world = try await XMTPWorld()
    let sender = world.sender()
    let (group, _) = try await group(with: sender, appData: "dark mode", in: world)
    await #expect { try await sender.profileSeal(for: group) } throws: {
      $0.cause == .rejected && "\($0)".contains("is not of the Convos app")
    }
  }

  @Test("Only groups have profile photos, and a network without a group says what to configure")
  func noGroup() async throws {
    let world = try await XMTPWorld()
    let sender = world.sender()
    func expect(_ conversation: Address, _ words: String) async {
      await #expect { try await sender.profileSeal(for: conversation) } throws: {
        $0.cause?.disposition == .fail && "\($0)".contains(words)
      }
    }
    await expect(world.directly, "is no group of XMTP")
    await expect(Address(unchecked: "family"), "write group:ID")
    await expect(
      ConversationID.profile(of: InboxID(unchecked: "me")).address,
      "belongs to a group; name the group in `profile.conversation`")
    let removal = world.message("m1", .profileRemoval, to: ConversationID.profile(of: InboxID(unchecked: "me")).address)
    await #expect { try await sender.reserve(removal) } throws: {
      $0.cause == .rejected && "\($0)".contains("`profile.conversation`")
    }
  }

  @Test("While the node is away, the key is asked for again later")
  func away() async throws {
    let world = try await XMTPWorld()
    let sender = world.sender()
    let (group, _) = try await group(with: sender, appData: appData, in: world)
    _ = try await sender.profileSeal(for: group)
    _ = try await world.relay.order("down")
    await #expect { try await sender.profileSeal(for: group) } throws: { $0.cause?.disposition == .retry }
    _ = try await world.relay.order("up")
    #expect(try await sender.profileSeal(for: group) != nil)
  }
}
