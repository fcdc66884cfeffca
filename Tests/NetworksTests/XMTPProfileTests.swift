import Digests
import Foundation
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

  /// The sealed photo, and the file with the object.
  private func sealed(
    for group: Address, by sender: XMTPNetwork, in world: XMTPWorld
  ) async throws -> (Messages.Attachment, object: String) {
    let seal = try #require(try await sender.profileSeal(for: group))
    let sealed = try seal.seal(
      PhotoFile(bytes: photo, filename: "photo.jpg", mimeType: "image/jpeg", width: 3, height: 4))
    let path = world.scratch.path("object")
    try Data(sealed.bytes).write(to: URL(fileURLWithPath: path))
    return (sealed.facts.attachment(at: "https://photos.example/\(sealed.digest.hex)"), path)
  }

  @Test("A member's client finds the photo in the update, and opens it under the group's key")
  func set() async throws {
    let world = try await XMTPWorld()
    let sender = world.sender()
    let (group, id) = try await group(with: sender, appData: appData, in: world)
    let (attachment, object) = try await sealed(for: group, by: sender, in: world)
    let publication = try await world.send(world.message("m1", .profile(attachment), to: group), as: sender)
    #expect(publication.attachment == attachment)
    _ = try await world.send(world.message("m2", .profileRemoval, to: group), as: sender)

    let received = try await world.received()
    #expect(received.map(\.type) == ["profile_update", "profile_update"] && received[0].fallback.isEmpty)
    #expect(received[0].id == publication.remoteID)
    let told = try #require(received[0].profile)
    #expect(told == ["url": attachment.url, "salt": attachment.salt ?? "", "nonce": attachment.nonce ?? ""])
    #expect(received[1].profile == [:])
    let opened = try await world.reader.order("openProfile", ["profile": told, "key": key.hex, "object": object])
    #expect(opened == ["sha256": SHA256Digest(of: photo).hex])
    #expect(try await world.envelopes(of: id) == 2)
  }

  @Test(
    "A change is told once wherever it is cut off, and found again",
    arguments: XMTPWorld.Moment.allCases.filter { !$0.isOfReserving })
  func once(_ moment: XMTPWorld.Moment) async throws {
    let world = try await XMTPWorld()
    try world.halt(at: nil)
    let sender = world.sender { $0.program = pythonScript("xmtp_halting.py") }
    let (group, id) = try await group(with: sender, appData: appData, in: world)
    let (attachment, _) = try await sealed(for: group, by: sender, in: world)
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
    }
    #expect(try await world.received().map { $0.profile?["url"] } == [attachment.url])
    #expect(try await world.envelopes(of: id) == 1)
  }

  @Test("The reservation of a change does not open the photo")
  func reservedKeys() async throws {
    let world = try await XMTPWorld()
    let sender = world.sender()
    let (group, _) = try await group(with: sender, appData: appData, in: world)
    let (attachment, _) = try await sealed(for: group, by: sender, in: world)
    let reserved = try #require(try await sender.reserve(world.message("m1", .profile(attachment), to: group)))
    #expect(attachment.secret == nil && !reserved.contains(key.hex) && !reserved.contains("secret"))
  }

  @Test("A group without an image key is refused until a member has made one")
  func noKey() async throws {
    let world = try await XMTPWorld()
    let sender = world.sender()
    let (group, id) = try await world.group(with: sender)
    func refusal() async -> String {
      do { return "\(String(describing: try await sender.profileSeal(for: group)))" } catch { return "\(error)" }
    }
    #expect(await refusal().contains("has no image key yet; let a member set a photo in the Convos app"))
    for (appData, words) in [("", "has no image key yet"), ("dark mode", "is not of the Convos app")] {
      _ = try await world.reader.order("appData", ["group": id, "text": appData])
      let sentence = await refusal()
      #expect(sentence.contains(words) && sentence.contains("rejected"), "\(sentence)")
    }
    _ = try await world.reader.order("appData", ["group": id, "text": appData])
    #expect(try await sender.profileSeal(for: group) is GroupImageSeal)
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
