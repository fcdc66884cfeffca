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
  private let attachment = Messages.Attachment("file:///o/1", isSealed: true)

  /// 2026-02-28T12:00:00.250Z
  private static let noon = Timestamp(milliseconds: 1_772_280_000_250)

  init() throws {
    scratch = try TemporaryDirectory()
    network = try Self.open(scratch.path)
  }

  /// A network as in another process, without knowledge of published messages.
  private static func open(_ path: String) throws -> LocalNetwork {
    try LocalNetwork(directory: path, pool: BlockingPool(label: "test", threads: 4), clock: { noon })
  }

  private func message(
    _ id: String, _ content: OutgoingMessage.Content = .text("hello"), to conversation: ConversationID? = nil
  ) -> OutgoingMessage {
    OutgoingMessage(id, content, to: (conversation ?? family).address.text)
  }

  private func lines(_ name: String = "family.jsonl") throws -> [String] {
    try String(contentsOfFile: scratch.path(name), encoding: .utf8).split(separator: "\n").map(String.init)
  }

  private func messages(_ name: String = "family.jsonl") throws -> [String] {
    try lines(name).map { LocalLine($0.utf8)?.outgoing.message.text ?? "unreadable" }
  }

  private func contents() throws -> Data { try Data(contentsOf: URL(fileURLWithPath: scratch.path("family.jsonl"))) }

  private func write(_ contents: Data) throws {
    try contents.write(to: URL(fileURLWithPath: scratch.path("family.jsonl")))
  }

  @Test func aProfilePhotoHasAFileOfItsInboxAndNoConversation() async throws {
    let profile = ConversationID.profile(of: InboxID(unchecked: "me"))
    let publication = try await network.publish(message("m1", .profile(attachment), to: profile))
    #expect(publication.attachment == attachment)
    _ = try await network.publish(message("m2", .profileRemoval, to: profile))
    let lines = try lines("profile~me.jsonl")
    #expect(lines[0].hasPrefix(#"{"message":"m1","request":"r","inbox":"me","kind":"profile","attachment":{"url":"#))
    #expect(
      lines[1]
        == #"{"message":"m2","request":"r","inbox":"me","kind":"profile-removal","publishedAt":"2026-02-28T12:00:00.250Z"}"#
    )
    let found = try await Self.open(scratch.path).find(TriedMessage("m1", to: profile.address.text))
    #expect(found == .published(publication))
  }

  @Test func aTextHasExactlyItsMembersInOrder() async throws {
    _ = try await network.publish(message("m1", .text("a \"quote\" / slash\nand line")))
    #expect(
      try lines() == [
        #"{"message":"m1","request":"r","conversation":"family","inbox":"me","kind":"text","text":"a \"quote\" / slash\nand line","publishedAt":"2026-02-28T12:00:00.250Z"}"#
      ])
  }

  @Test func aPhotoHasExactlyItsMembersInOrder() async throws {
    let publication = try await network.publish(message("m", .photo(attachment)))
    #expect(publication.attachment == attachment)
    #expect(
      try lines() == [
        #"{"message":"m","request":"r","conversation":"family","inbox":"me","kind":"photo","attachment":{"url":"file:///o/1","contentDigest":"d","secret":"s","salt":"t","nonce":"n","scheme":"https://","contentLength":9,"filename":"photo.jpg","mimeType":"image/jpeg","width":3,"height":4},"publishedAt":"2026-02-28T12:00:00.250Z"}"#
      ])
  }

  @Test func anUnsealedPhotoHasNoKeyMembers() async throws {
    let open = Messages.Attachment("u")
    _ = try await network.publish(message("m", .photo(open)))
    #expect(try lines()[0].contains(#"{"url":"u","contentDigest":"d","scheme":"https://","contentLength":9,"#))
    #expect(LocalLine(try lines()[0].utf8)?.publication.attachment == open)
  }

  @Test func anIndependentParserReadsEveryCharacterOnOneLine() async throws {
    let text = String(String.UnicodeScalarView((0...0x2fff).compactMap(Unicode.Scalar.init))) + "\u{1F4F7}\"\\/"
    _ = try await network.publish(message("m", .text(text)))
    let script = """
      import json, sys
      text = open(sys.argv[1], encoding="utf-8").read()
      assert len(text.splitlines()) == 1
      sys.stdout.buffer.write(json.loads(text)["text"].encode("utf-8"))
      """
    let result = try run([python, "-c", script, scratch.path("family.jsonl")])
    #expect(result.status == 0, "\(result.errors)")
    #expect(Array(result.output.unicodeScalars) == Array(text.unicodeScalars))
  }

  @Test func messagePublishedTwiceHasOneLine() async throws {
    let first = try await network.publish(message("m1"))
    let second = try await network.publish(message("m2"))
    let again = try await network.publish(message("m2"))
    #expect(try messages() == ["m1", "m2"])
    #expect(first.publishedAt == Self.noon && second == again)
  }

  @Test func publishedAttachmentIsTheAnswer() async throws {
    _ = try await network.publish(message("m1", .photo(attachment)))
    let later = OutgoingMessage.Content.photo(Messages.Attachment("file:///o/2", contentDigest: "e"))
    let again = try await Self.open(scratch.path).publish(message("m1", later))
    #expect(again.attachment == attachment)
  }

  @Test func aTextThatLooksLikeALineIsNotTakenForOne() async throws {
    _ = try await network.publish(message("m1", .text("\n{\"message\":\"m2\",\"x\":1}\n")))
    #expect(try await Self.open(scratch.path).find(TriedMessage("m2")) == .absent)
    _ = try await Self.open(scratch.path).publish(message("m2"))
    #expect(try messages() == ["m1", "m2"])
  }

  @Test func theLargestTextIsFoundAgain() async throws {
    let text = String(repeating: "\u{1}", count: 65_536)
    _ = try await network.publish(message("m0"))
    _ = try await network.publish(message("m1", .text(text)))
    _ = try await Self.open(scratch.path).publish(message("m1", .text(text)))
    #expect(try messages() == ["m0", "m1"])
  }

  @Test func aTornLineIsCutOffAndItsMessagePublishedWhole() async throws {
    _ = try await network.publish(message("m1"))
    let whole = try contents()
    for length in [1, 20, whole.count - 1] {
      try write(whole + whole.prefix(length))
      let fresh = try Self.open(scratch.path)
      #expect(try await fresh.find(TriedMessage("m2")) == .absent)
      #expect(try contents() == whole)
      try write(whole + whole.prefix(length))
      _ = try await Self.open(scratch.path).publish(message("m2"))
      #expect(try messages() == ["m1", "m2"])
    }
  }

  @Test func aTornLineWithoutAnyBeforeItIsCutOff() async throws {
    try write(Data(#"{"message":"m1","requ"#.utf8))
    _ = try await network.publish(message("m1"))
    #expect(try messages() == ["m1"])
  }

  /// Some filesystems write the new length before the data, so a power cut leaves zeros.
  @Test func zerosLeftByAPowerCutAreCutOff() async throws {
    _ = try await network.publish(message("m1"))
    let whole = try contents()
    let halfWritten = Data(#"{"message":"m2","#.utf8) + Data(count: 50)
    for rest in [Data(count: 300), halfWritten, halfWritten + Data("\n".utf8), Data(count: 9) + Data("\n".utf8)] {
      try write(whole + rest)
      _ = try await Self.open(scratch.path).publish(message("m2"))
      #expect(try messages() == ["m1", "m2"])
    }
  }

  @Test func findTellsPublishedFromAbsentMessages() async throws {
    #expect(try await network.find(TriedMessage("m1")) == .absent)
    #expect(try FileManager.default.contentsOfDirectory(atPath: scratch.path).isEmpty)
    let publication = try await network.publish(message("m1", .photo(attachment)))
    #expect(try await Self.open(scratch.path).find(TriedMessage("m1")) == .published(publication))
    #expect(try await Self.open(scratch.path).find(TriedMessage("m2")) == .absent)
  }

  @Test func olderMessagesAreFound() async throws {
    let publication = try await network.publish(message("m0"))
    for number in 1...63 { _ = try await network.publish(message("m\(number)")) }
    #expect(try await Self.open(scratch.path).find(TriedMessage("m0")) == .published(publication))
    #expect(try await Self.open(scratch.path).publish(message("m0")) == publication)
    #expect(try lines().count == 64)
  }

  @Test func aConversationThatWasPurgedBeginsAnew() async throws {
    _ = try await network.publish(message("m1"))
    try FileManager.default.removeItem(atPath: scratch.path("family.jsonl"))
    #expect(try await network.find(TriedMessage("m1")) == .absent)
    _ = try await network.publish(message("m1"))
    _ = try await network.publish(message("m2"))
    #expect(try messages() == ["m1", "m2"])
  }

  @Test func conversationsInParallelKeepTheirOwnOrder() async throws {
    let network = network
    try await withThrowingTaskGroup(of: Void.self) { group in
      for conversation in 0..<20 {
        group.addTask {
          for number in 0..<20 {
            let id = ConversationID(unchecked: "c\(conversation)")
            _ = try await network.publish(message("\(conversation)-\(number)", .text("\(number)"), to: id))
          }
        }
      }
      try await group.waitForAll()
    }
    for conversation in 0..<20 {
      #expect(try messages("c\(conversation).jsonl") == (0..<20).map { "\(conversation)-\($0)" })
    }
  }

  @Test func publishesToOneConversationTakeTurns() async throws {
    let network = network
    let long = OutgoingMessage.Content.text(String(repeating: "x", count: 60_000))
    try await withThrowingTaskGroup(of: Void.self) { group in
      for number in 0..<40 {
        group.addTask { _ = try await network.publish(message("m\(number / 4)", long)) }
      }
      try await group.waitForAll()
    }
    #expect(try Set(messages()) == Set((0..<10).map { "m\($0)" }))
  }

  @Test func forgottenLinesAreReadAgain() async throws {
    let network = try LocalNetwork(
      directory: scratch.path, pool: BlockingPool(label: "test", threads: 4), clock: { Self.noon }, knownEnds: 2)
    for round in 0..<3 {
      for conversation in 0..<5 {
        let id = ConversationID(unchecked: "c\(conversation)")
        for _ in 0..<2 { _ = try await network.publish(message("\(conversation)-\(round)", to: id)) }
      }
    }
    for conversation in 0..<5 {
      #expect(try messages("c\(conversation).jsonl") == (0..<3).map { "\(conversation)-\($0)" })
    }
  }

  @Test(arguments: ["../../evil", "/etc/passwd", "..", ".", "a/b", "a\\b", "%2e%2e/x", ".hidden"])
  func noConversationLeavesTheDirectory(_ name: String) async throws {
    _ = try await network.publish(message("m", to: ConversationID(unchecked: name)))
    let file = try #require(try FileManager.default.contentsOfDirectory(atPath: scratch.path).first)
    #expect(file.hasSuffix(".jsonl") && !file.hasPrefix("."))
    #expect(LocalLine(try lines(file)[0].utf8)?.outgoing.address.text == name)
  }

  @Test(arguments: [
    #"{}"#, #"[]"#, "null", "", "{", #"{"message":"m"}"#,
    #"{"message":"m","request":"r","conversation":"c","inbox":"i","kind":"text","publishedAt":"2026-02-28T12:00:00.250Z"}"#,
    #"{"message":"m","request":"r","conversation":"c","inbox":"i","kind":"photo","text":"t","publishedAt":"2026-02-28T12:00:00.250Z"}"#,
    #"{"message":"m","request":"r","conversation":"c","inbox":"i","kind":"text","text":"t","publishedAt":"yesterday"}"#,
  ])
  func foreignLinesAreNotRead(_ text: String) {
    #expect(LocalLine(text.utf8)?.publishedAt == nil)
  }

  @Test func aLineIsReadAsItWasWritten() throws {
    for content in [OutgoingMessage.Content.text("a\u{0}\u{85}\u{2028}\\\"/é📷"), .photo(attachment)] {
      let line = LocalLine(outgoing: message("m", content), publishedAt: Self.noon)
      let read = try #require(LocalLine(line.encoded))
      #expect(read.encoded == line.encoded && read.publication == line.publication)
      #expect(line.encoded.starts(with: LocalLine.opening(of: MessageID(unchecked: "m"))))
    }
  }

  @Test func missingDirectoryIsATransientStorageError() async throws {
    try FileManager.default.removeItem(atPath: scratch.path)
    let cause = try await failure { try await network.publish(message("m")) }?.cause
    #expect(cause == .localStorageError && cause?.disposition == .retry)
  }

  @Test func aLinkInThePlaceOfTheFileIsNotFollowed() async throws {
    let target = try TemporaryDirectory()
    try Data("mine\n".utf8).write(to: URL(fileURLWithPath: target.path("file")))
    try FileManager.default.createSymbolicLink(
      atPath: scratch.path("family.jsonl"), withDestinationPath: target.path("file"))
    await #expect { try await network.publish(message("m")) } throws: { $0.cause == .localStorageError }
    #expect(try String(contentsOfFile: target.path("file"), encoding: .utf8) == "mine\n")
  }

  @Test(.enabled(if: SmallDisk.isAllowed, "only root may mount a disk that is soon full"))
  func aFullDiskIsSaidToBeFullAndLeavesNoTornLine() async throws {
    try await SmallDisk.use { path in
      let network = try Self.open(path)
      let (file, ballast) = (URL(fileURLWithPath: "\(path)/family.jsonl"), URL(fileURLWithPath: "\(path)/ballast"))
      func messages() throws -> [String?] {
        try Data(contentsOf: file).split(separator: UInt8(ascii: "\n")).map { LocalLine($0)?.outgoing.message.text }
      }
      _ = try await network.publish(message("m1"))
      try Data(count: 250_000).write(to: ballast)
      let large = message("m2", .text(String(repeating: "x", count: 60_000)))
      await #expect { try await network.publish(large) } throws: { $0.cause == .localStorageFull }
      #expect(try messages() == ["m1"])
      #expect(try Data(contentsOf: file).last == UInt8(ascii: "\n"))
      try FileManager.default.removeItem(at: ballast)
      _ = try await network.publish(large)
      _ = try await network.publish(large)
      #expect(try messages() == ["m1", "m2"])
    }
  }
}
