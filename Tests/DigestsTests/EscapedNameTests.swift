import Digests
import Messages
import Testing

@Suite struct EscapedNameTests {
  @Test func plainNamesStandForThemselves() throws {
    #expect(try ConversationID("family").fileName == "family")
    #expect(try ConversationID("!room:example.org").fileName == "!room:example.org")
  }

  @Test(arguments: ["..", ".", "/etc/passwd", "../../x", ".hidden", "a/b", "a%2fb", "~"])
  func noNameLeavesItsFolder(_ text: String) throws {
    let name = try ConversationID(text).fileName
    #expect(!name.contains("/") && !name.hasPrefix(".") && name != ConversationID(unchecked: text + "x").fileName)
  }

  @Test func twoIdentifiersNeverShareAName() throws {
    let texts =
      ["a/b", "a%2Fb", "a%252Fb", "A/B", "ä", "a\u{308}", String(repeating: "é", count: 120) + "1"]
      + [String(repeating: "é", count: 120) + "2"]
    let names = Set(texts.map { ConversationID(unchecked: $0).fileName })
    #expect(names.count == texts.count)
  }

  @Test(arguments: ["family", "..", ".hidden", "a/b", "a%2fb", "~", "ä ö", "!room:example.org", "%"])
  func aNameThatWasNotCutIsReadBack(_ text: String) throws {
    let conversation = try ConversationID(text)
    #expect(ConversationID(fileName: conversation.fileName) == conversation)
  }

  @Test(arguments: ["a b", "%2", "%zz", "%61", "%ff", "", "%0A", "a/b", String(repeating: "a", count: 135) + "~00"])
  func foreignNamesAreNotRead(_ name: String) {
    #expect(ConversationID(fileName: name) == nil)
  }

  @Test func noConversationHasThePlaceOfAProfilePhoto() throws {
    let profile = ConversationID.profile(of: InboxID(unchecked: "a/b"))
    #expect(profile.fileName == "profile~a%2Fb" && ConversationID(fileName: profile.fileName) == profile)
    for text in ["profile~a/b", "profile~a%2Fb", "profile~" + String(repeating: "é", count: 120)] {
      #expect(try ConversationID(text).fileName.hasPrefix("profile%7E"))
    }
    let longest = ConversationID.profile(of: InboxID(unchecked: String(repeating: "é", count: 127)))
    #expect(longest.fileName.utf8.count <= 208)
  }

  @Test func longNamesLeaveRoomForAnEnding() throws {
    for text in [
      String(repeating: "é", count: 127), String(repeating: "a", count: 255), String(repeating: "/", count: 200),
    ] {
      #expect(try ConversationID(text).fileName.utf8.count <= 200)
    }
  }
}

@Suite struct SHA256Tests {
  @Test func theDigestOfAbcIsThePublishedOne() {
    #expect(
      SHA256Digest(of: Array("abc".utf8)).hex == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")
  }

  @Test func hexadecimalReadsBackWhatItWrote() {
    let digest = SHA256Digest(of: [1, 2, 3])
    #expect(SHA256Digest(hex: digest.hex) == digest)
    #expect(SHA256Digest(hex: "zz") == nil && SHA256Digest(hex: "abc") == nil && SHA256Digest(hex: "ab") == nil)
  }
}

@Suite struct TimestampTests {
  @Test func everyMillisecondReadsBackAsItself() {
    for milliseconds in Int64(1_795_244_077_000)..<1_795_244_079_000 {
      let moment = Timestamp(milliseconds: milliseconds)
      #expect(Timestamp(moment.description) == moment)
    }
    #expect(Timestamp(milliseconds: 1_772_280_000_250).description == "2026-02-28T12:00:00.250Z")
    #expect(Timestamp(milliseconds: -1).description == "1969-12-31T23:59:59.999Z")
    #expect(Timestamp("yesterday") == nil && Timestamp("2026-02-28T12:00:00Z") == nil)
  }
}
