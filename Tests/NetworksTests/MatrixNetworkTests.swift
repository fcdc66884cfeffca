import Digests
import Foundation
import HTTP
import Matrix
import Messages
import Networks
import Seals
import Secrets
import Stores
import TestSupport
import Testing

/// Uses matrix-nio as the reader's client.
@Suite(.enabled(if: Synapse.isInstalled, "Synapse is not installed"), .timeLimit(.minutes(4)))
struct MatrixNetworkTests {
  private let synapse: Synapse
  private let room: Synapse.Room
  private let photo = PhotoFile(
    bytes: (0..<100_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }, filename: "photo.jpg", mimeType: "image/jpeg",
    width: 640, height: 480, blurhash: "LEHV6nWB2yk8")

  init() throws {
    synapse = try Synapse.shared()
    room = try synapse.room(of: "alice", with: "bob")
  }

  private func network(as user: String = "alice", token: String? = nil, at start: Timestamp = .now()) throws
    -> MatrixNetwork
  {
    try MatrixNetwork(
      MatrixAccount(homeserver: synapse.endpoint, token: Secret(token ?? synapse.token(user))), client: HTTPClient(),
      clock: { start })
  }

  private func message(
    _ content: OutgoingMessage.Content = .text("hello"), _ id: MessageID? = nil, to conversation: String? = nil,
    firstTriedAt: Timestamp? = nil
  ) -> OutgoingMessage {
    OutgoingMessage((id ?? Self.fresh()).text, content, to: conversation ?? room.id, firstTriedAt: firstTriedAt)
  }

  private func tried(_ message: OutgoingMessage, in conversation: String? = nil) -> TriedMessage {
    TriedMessage(message.message.text, to: conversation ?? message.address.text)
  }

  @Test func sealedAndForeignPhotosAreRefusedAsAvatars() async throws {
    for attachment in [try await uploaded(MatrixSeal()), Messages.Attachment("https://photos.example/o")] {
      await #expect(throws: DeliveryError.self) {
        try await network().publish(message(.profile(attachment), to: "\u{1}me"))
      }
    }
  }

  private static func fresh() -> MessageID {
    MessageID(unchecked: UUID().uuidString.lowercased().replacingOccurrences(of: "-", with: ""))
  }

  private func uploaded(_ seal: any Seal) async throws -> Messages.Attachment {
    let sealed = try seal.seal(photo)
    let store = try MatrixStore(
      MatrixAccount(homeserver: synapse.endpoint, token: Secret(synapse.token("alice"))), client: HTTPClient())
    let object = ObjectName(sealed.digest)
    let url = try await store.put(object, sealed.bytes, contentType: sealed.contentType) { _ in }
    return UploadedPhoto(object: object, url: url, sealed: sealed.facts).attachment
  }

  private func read() throws -> [Synapse.Message] { try synapse.messages(in: room, readBy: "bob") }

  private func error(_ network: MatrixNetwork, _ message: OutgoingMessage) async throws -> DeliveryError? {
    try await failure { try await network.publish(message) }
  }

  @Test func sealedPhotoPublishedThreeTimesArrivesOnce() async throws {
    let message = message(.photo(try await uploaded(MatrixSeal())))
    var publications = [Publication]()
    for _ in 1...3 { publications.append(try await network().publish(message)) }
    let messages = try read()
    let read = try #require(messages.first)
    #expect(messages.count == 1 && read.kind == "sealed photo" && read.sender == "@alice:localhost")
    #expect(read.sha256 == SHA256Digest(of: photo.bytes).hex)
    #expect(read.type == "application/octet-stream" && read.name == "")
    #expect(Set(publications.map(\.remoteID)) == [read.event])
    let content = try #require(try JSONSerialization.jsonObject(with: Data(read.content.utf8)) as? [String: Any])
    #expect(content["msgtype"] as? String == "m.image" && content["url"] == nil)
    #expect(content["body"] as? String == "photo.jpg" && content["filename"] as? String == "photo.jpg")
    let info = try #require(content["info"] as? [String: Any])
    #expect(info["w"] as? Int == 640 && info["h"] as? Int == 480 && info["size"] as? Int == 100_000)
    #expect(info["mimetype"] as? String == "image/jpeg")
    #expect(info["xyz.amorgan.blurhash"] as? String == "LEHV6nWB2yk8")
  }

  @Test func aPhotoWithoutSealAndATextArriveInOrder() async throws {
    let network = try network()
    _ = try await network.publish(message(.photo(try await uploaded(NoSeal()))))
    let text = "a \"quote\" / slash\nline \u{1F4F7} \u{2028}"
    _ = try await network.publish(message(.text(text)))
    let read = try read()
    #expect(read.map(\.kind) == ["photo", "text"])
    #expect(read.first?.sha256 == SHA256Digest(of: photo.bytes).hex && read.first?.type == "image/jpeg")
    #expect(read.last?.body == text)
  }

  @Test func anAliasStandsForItsRoom() async throws {
    let network = try network()
    _ = try await network.publish(message(.text("one"), to: room.alias))
    _ = try await network.publish(message(.text("two"), to: room.alias))
    #expect(try read().map(\.body) == ["one", "two"])
  }

  @Test func anotherDeviceFindsWhatWasPublishedBefore() async throws {
    let message = message(.photo(try await uploaded(MatrixSeal())))
    let first = try await network().publish(message)
    let tried = Timestamp.now()
    let other = try network(token: synapse.login("alice", device: UUID().uuidString), at: tried.advanced(seconds: 1))
    let again = try await other.publish(self.message(message.content, message.message, firstTriedAt: tried))
    #expect(again.remoteID == first.remoteID && again.attachment == first.attachment)
    #expect(try read().count == 1)
  }

  @Test func theSameDevicesNewTokenPublishesNothingTwice() async throws {
    let device = UUID().uuidString
    let message = message()
    _ = try await network(token: synapse.login("alice", device: device)).publish(message)
    _ = try await network(token: synapse.login("alice", device: device)).publish(message)
    #expect(try read().count == 1)
  }

  @Test func publishedUploadIsTheAnswer() async throws {
    let id = Self.fresh()
    let (first, second) = (try await uploaded(MatrixSeal()), try await uploaded(MatrixSeal()))
    _ = try await network().publish(message(.photo(first), id))
    let tried = Timestamp.now()
    let again = try await network(at: tried).publish(message(.photo(second), id, firstTriedAt: tried))
    #expect(again.attachment == first && first != second)
    #expect(try read().count == 1)
  }

  @Test func messagePublishedByADeadProcessIsFound() async throws {
    let (sealed, text, never) = (message(.photo(try await uploaded(MatrixSeal()))), message(), message())
    for message in [sealed, text] { _ = try await network().publish(message) }
    for _ in 0..<3 { _ = try await network().publish(message(.text("later"))) }
    let network = try network()
    guard case .photo(let attachment) = sealed.content,
      case .published(let publication) = try await network.find(tried(sealed))
    else {
      Issue.record("the photo was not found")
      return
    }
    #expect(publication.attachment == attachment && publication.remoteID?.hasPrefix("$") == true)
    guard case .published = try await network.find(tried(text, in: room.alias)) else {
      Issue.record("the text was not found")
      return
    }
    #expect(try await network.find(tried(never)) == .unknown)
    #expect(try await network.find(tried(message(.profileRemoval, to: "\u{1}me"))) == .unknown)
  }

  @Test func foreignEventsWithOurIdsBlockNothing() async throws {
    let message = message()
    _ = try await network(as: "bob").publish(message)
    #expect(try await network().find(tried(message)) == .unknown)
    let tried = Timestamp.now()
    _ = try await network(at: tried.advanced(seconds: 1)).publish(
      self.message(.text("hello"), message.message, firstTriedAt: tried))
    #expect(try read().map(\.sender) == ["@bob:localhost", "@alice:localhost"])
  }

  @Test func checkNamesTheAccountAndUnencryptedParts() async throws {
    let found = try await network().check()
    #expect(found.contains("@alice:localhost") && found.contains("can read"))
  }

  @Test func checkPredictsTheOutcomeForARoom() async throws {
    func finding(_ network: MatrixNetwork, _ conversation: String) async throws -> Cause? {
      try await failure {
        let finding = try await network.checkConversation(Address(unchecked: conversation))
        #expect(finding?.contains("is in the room") == true)
      }?.cause
    }
    let room = try synapse.room(of: "alice", with: "bob")
    for name in [room.id, room.alias] { #expect(try await finding(network(as: "bob"), name) == nil) }
    #expect(try await finding(network(as: "dave"), room.id) == .forbidden)
    #expect(try await finding(network(), "!nowhere:localhost") == .forbidden)
    #expect(try await finding(network(), "#nowhere:localhost") == .roomGone)
    let account = MatrixAccount(homeserver: synapse.endpoint, token: Secret(synapse.token("bob")))
    let path = "/_matrix/client/v3/rooms/\(room.id.percentEncoded())/leave"
    _ = try await MatrixServer(account, for: .room, client: HTTPClient()).ask(.post, path, Array("{}".utf8))
    #expect(try await finding(network(as: "bob"), room.id) == .forbidden)
  }

  @Test(arguments: [
    ("!nowhere:localhost", Cause.forbidden), ("#", .roomGone), ("#a b", .roomGone), ("#\u{e9}/../x", .roomGone),
    ("@bob:localhost", .roomGone),
  ])
  func aRoomThatCannotBeFoundHasItsCause(_ conversation: String, _ cause: Cause) async throws {
    #expect(try await error(network(), message(to: conversation))?.cause == cause)
  }

  @Test func aRoomsIdCannotLeaveItsPath() async throws {
    let error = try await error(network(), message(to: "!x/../../../../client/v3/account/whoami?a=#b"))
    #expect(error?.cause.disposition == .fail)
  }

  @Test func textLimitOfTheHomeserverIsCheckedBeforeSending() async throws {
    let network = try network()
    let address = Address(unchecked: room.id)
    func fits(_ text: String) async -> Bool { (try? await network.textLimit?(text, address)) != nil }
    // The longest texts that are admitted, also with two bytes per character.
    for character in ["x", "\""] {
      var (least, most) = (0, 65_536)
      while most - least > 1 {
        let middle = (least + most) / 2
        if await fits(String(repeating: character, count: middle)) { least = middle } else { most = middle }
      }
      #expect(least > 31_000)
      #expect(try await error(network, message(.text(String(repeating: character, count: least)))) == nil)
      let refused = try await error(network, message(.text(String(repeating: character, count: most))))
      #expect(refused?.cause == .rejected && refused?.sentence.contains("shorten the text") == true)
    }
    #expect(try read().count == 2)
  }

  @Test func rateLimitedSenderWaitsAndLosesNothing() async throws {
    let room = try synapse.room(of: "carol", with: "bob")
    let network = try network(as: "carol")
    var (sent, refusal) = ([String](), nil as DeliveryError?)
    while refusal == nil, sent.count < 100 {
      let message = message(.text("\(sent.count)"), to: room.id)
      refusal = try await error(network, message)
      if refusal == nil { sent.append("\(sent.count)") }
    }
    #expect(refusal?.cause == .rateLimited && refusal?.cause.disposition == .retry)
    #expect((refusal?.retryAfter ?? 0) > 0)
    #expect(try synapse.messages(in: room, readBy: "bob").map(\.body) == sent)
  }

  @Test func photoThatNoClientCanOpenIsAConfigurationError() async throws {
    let elsewhere = try MatrixSeal().seal(photo).facts.attachment(at: "https://example.test/a")
    let sealedOtherwise = try XMTPSeal().seal(photo).facts.attachment(at: "mxc://localhost/a")
    for attachment in [elsewhere, sealedOtherwise] {
      #expect(try await error(network(), message(.photo(attachment)))?.cause == .configError)
    }
    #expect(try read().isEmpty)
  }
}
