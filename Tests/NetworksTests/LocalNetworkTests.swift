import Blocking
import Foundation
import Messages
import TestSupport
import Testing

@testable import Networks

@Suite struct LocalNetworkTests {
  private let scratch: TemporaryDirectory
  private let network: LocalNetwork
  private let family = ConversationID(unchecked: "family")

  init() throws {
    scratch = try TemporaryDirectory()
    network = try Self.open(scratch)
  }

  /// A network as another process would have it: it knows nothing of what was published before.
  private static func open(_ scratch: TemporaryDirectory) throws -> LocalNetwork {
    try LocalNetwork(directory: scratch.path, pool: BlockingPool(label: "test", threads: 4))
  }

  private func message(_ id: String, _ text: String, to conversation: ConversationID? = nil) -> OutgoingMessage {
    OutgoingMessage(
      message: MessageID(unchecked: id), request: "r", conversation: conversation ?? family,
      inbox: InboxID(unchecked: "me"), content: .text(text))
  }

  private func lines(_ name: String = "family.jsonl") throws -> [String] {
    try String(contentsOfFile: scratch.path(name), encoding: .utf8).split(separator: "\n").map(String.init)
  }

  @Test func aTextHasExactlyItsMembersInOrder() async throws {
    let publication = try await network.publish(message("m1", "a \"quote\" / slash\nand line"))
    #expect(
      try lines() == [
        #"{"message":"m1","request":"r","conversation":"family","inbox":"me","kind":"text","text":"a \"quote\" / slash\nand line","publishedAt":"\#(publication.publishedAt)"}"#
      ])
  }

  @Test func aPhotoCarriesItsAttachment() async throws {
    let attachment = Attachment(
      url: "file:///o/1", contentDigest: "d", secret: "s", salt: "t", nonce: "n", scheme: "https://", contentLength: 9,
      filename: "photo.jpg", mimeType: "image/jpeg", width: 3, height: 4)
    let photo = OutgoingMessage(
      message: MessageID(unchecked: "m"), request: "r", conversation: family, inbox: InboxID(unchecked: "me"),
      content: .photo(attachment))
    let publication = try await network.publish(photo)
    #expect(publication.attachment == attachment)
    let line = try #require(LocalLine(try lines()[0].utf8))
    #expect(line.attachment == attachment && line.kind == .photo && line.text == nil)
  }

  @Test func aMessageWhoseAnswerWasLostIsNotPublishedTwice() async throws {
    let first = try await network.publish(message("m1", "one"))
    let again = try await Self.open(scratch).publish(message("m1", "one"))
    #expect(try lines().count == 1)
    #expect(first.publishedAt == again.publishedAt)
  }

  @Test func aTornLineIsCutOffAndItsMessagePublishedWhole() async throws {
    _ = try await network.publish(message("m1", "one"))
    let whole = try Data(contentsOf: URL(fileURLWithPath: scratch.path("family.jsonl")))
    for length in [1, 20, whole.count - 1] {
      try (whole + whole.prefix(length)).write(to: URL(fileURLWithPath: scratch.path("family.jsonl")))
      let fresh = try Self.open(scratch)
      #expect(try await fresh.find(MessageID(unchecked: "m2"), in: family) == .absent)
      _ = try await fresh.publish(message("m2", "two"))
      #expect(try lines().compactMap { LocalLine($0.utf8)?.message } == ["m1", "m2"])
    }
  }

  @Test func whatWasPublishedIsFoundAndWhatWasNotIsSurelyAbsent() async throws {
    #expect(try await network.find(MessageID(unchecked: "m1"), in: family) == .absent)
    let publication = try await network.publish(message("m1", "one"))
    #expect(try await Self.open(scratch).find(MessageID(unchecked: "m1"), in: family) == .published(publication))
    #expect(try await Self.open(scratch).find(MessageID(unchecked: "m2"), in: family) == .absent)
  }

  @Test func theLargestTextIsFoundAgain() async throws {
    let text = String(repeating: "\u{1}", count: 65_536)
    _ = try await network.publish(message("m0", "before"))
    _ = try await network.publish(message("m1", text))
    _ = try await Self.open(scratch).publish(message("m1", text))
    #expect(try lines().count == 2)
  }

  @Test func conversationsInParallelKeepTheirOwnOrder() async throws {
    let network = network
    try await withThrowingTaskGroup(of: Void.self) { group in
      for conversation in 0..<20 {
        group.addTask {
          for number in 0..<20 {
            _ = try await network.publish(
              OutgoingMessage(
                message: MessageID(unchecked: "\(conversation)-\(number)"), request: "r",
                conversation: ConversationID(unchecked: "c\(conversation)"), inbox: InboxID(unchecked: "me"),
                content: .text("\(number)")))
          }
        }
      }
      try await group.waitForAll()
    }
    for conversation in 0..<20 {
      #expect(
        try lines("c\(conversation).jsonl").compactMap { LocalLine($0.utf8)?.text } == (0..<20).map(String.init))
    }
  }

  @Test(arguments: ["../../evil", "/etc/passwd", "..", "a/b"])
  func noConversationLeavesTheDirectory(_ name: String) async throws {
    let before = try FileManager.default.contentsOfDirectory(atPath: scratch.path).count
    _ = try await network.publish(message("m", "t", to: ConversationID(unchecked: name)))
    #expect(try FileManager.default.contentsOfDirectory(atPath: scratch.path).count == before + 1)
  }

  @Test func aDirectoryThatIsGoneIsAStorageErrorAndCanPass() async throws {
    try FileManager.default.removeItem(atPath: scratch.path)
    await #expect { try await network.publish(message("m", "t")) } throws: { error in
      (error as? DeliveryError)?.cause.disposition == .retry
    }
  }
}
