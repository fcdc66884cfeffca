import Digests
import Messages
import Testing

@testable import Stores

@Suite struct ObjectNamingTests {
  private let digest = SHA256Digest(of: [1])

  private func name(
    _ template: String, inbox: String = "me", conversation: String = "family", isRepeated: Bool = false
  ) throws -> String {
    try #require(ObjectNaming(template)).name(
      ObjectOrigin(
        digest: digest, inbox: InboxID(inbox), conversation: ConversationID(conversation),
        message: MessageID(unchecked: "0a1b"), isRepeated: isRepeated)
    ).text
  }

  @Test func byDefaultAnObjectIsNamedByItsDigestAlone() throws {
    #expect(try name("{digest}") == digest.hex)
    #expect(ObjectNaming("{digest}") == .digest)
  }

  @Test func aTemplateNamesInboxConversationAndMessage() throws {
    #expect(try name("images/{conversation}/{message}/image.jpg") == "images/family/0a1b/image.jpg")
    #expect(try name("{inbox}-{digest}") == "me-\(digest)")
  }

  @Test(arguments: ["..", ".", "../../etc", "a/b", "a%2Fb", "/", "a\\b", "a?b#c", "é ü"])
  func noValueLeavesItsFolder(_ conversation: String) throws {
    let folders = try name("c/{conversation}/{message}", conversation: conversation).split(
      separator: "/", omittingEmptySubsequences: false)
    #expect(folders.count == 3 && folders[0] == "c" && folders[2] == "0a1b")
    #expect(![".", "..", ""].contains(folders[1]))
  }

  @Test func noTwoConversationsShareAName() throws {
    let long = String(repeating: "x", count: 250)
    let ids = ["a/b", "a%2Fb", "a%252Fb", "a", "A", "a ", long, long + "x"]
    let names = try Set(ids.map { try name("{conversation}/{message}", conversation: $0) })
    #expect(names.count == ids.count)
  }

  @Test func theLongestNameFitsIntoS3() throws {
    let longest = String(repeating: "/", count: 255)
    let template = String(repeating: "x", count: 350) + "{inbox}{conversation}{message}{digest}"
    #expect(try name(template, inbox: longest, conversation: longest).utf8.count <= 1024)
  }

  @Test(arguments: [
    ("images/{message}/image.jpg", "images/0a1b/image-"), ("{message}", "0a1b-"), ("v1.2/{message}", "v1.2/0a1b-"),
  ])
  func anUploadThatIsRepeatedGetsANameOfItsOwn(_ template: String, _ start: String) throws {
    let repeated = try name(template, isRepeated: true)
    #expect(repeated.hasPrefix(start + String(digest.hex.prefix(32))))
    #expect(try name(template) != repeated)
    #expect(repeated.hasSuffix(".jpg") == template.hasSuffix(".jpg"))
  }

  @Test func digestNamesAreStable() throws {
    #expect(try name("p/{digest}.jpg", isRepeated: true) == name("p/{digest}.jpg"))
  }

  @Test(arguments: [
    "", "images/image.jpg", "{conversation}/image.jpg", "{inbox}", "{messages}", "{Digest}{digest}", "{message",
    "{digest}}", "message}{message}", "{{message}}", "/{message}", "a//{message}", "../{message}", "./{digest}",
    "{message}/", "a\n{message}", String(repeating: "x", count: 393) + "{digest}",
  ])
  func aTemplateThatNamesNoObjectsIsRefused(_ template: String) { #expect(ObjectNaming(template) == nil) }

  @Test(arguments: [
    "a/{message}.jpg", "{inbox}/{conversation}/{digest}", String(repeating: "x", count: 392) + "{digest}",
  ])
  func aTemplateThatNamesObjectsIsTaken(_ template: String) { #expect(ObjectNaming(template)?.template == template) }
}
