import Digests
import DurableFiles
import Foundation
import Messages
import Spooling
import TestSupport
import Testing

/// Errors of request directories. Stories cover links, FIFOs and owners.
@Suite struct RequestReaderTests {
  private let scratch: TemporaryDirectory

  init() throws {
    scratch = try TemporaryDirectory()
    try write("to", "family\n")
  }

  private func write(_ name: String, _ text: String) throws { try write(name, Data(text.utf8)) }

  private func write(_ name: String, _ data: Data) throws {
    try data.write(to: URL(fileURLWithPath: scratch.path(name)))
  }

  private func read() throws -> Request { try RequestReader(Directory(path: scratch.path)).request }

  private func refusal() -> String {
    do {
      _ = try read()
      return "accepted"
    } catch {
      return "\(error)"
    }
  }

  @Test func photosComeInByteOrderOfTheirNamesAndTheTextComesLast() throws {
    for name in ["photo-2.jpg", "photo-10.jpg", "photo", "photoZ"] { try write(name, name) }
    try write("text", "hello\n")
    #expect(try read().parts.map(\.file) == ["photo", "photo-10.jpg", "photo-2.jpg", "photoZ", "text"])
  }

  @Test func fieldsAreReadWithoutTheirNewline() throws {
    try write("text", "hello")
    try write("from", "me\n")
    try write("id", "key-1\n")
    try write("kind", "message\n")
    let request = try read()
    #expect(
      request.addressee == .conversation(ConversationID(unchecked: "family")) && request.inbox?.text == "me"
        && request.key?.text == "key-1")
  }

  @Test func aProfileRequestIsOnePhotoOrItsRemoval() throws {
    try FileManager.default.removeItem(atPath: scratch.path("to"))
    try write("kind", "profile\n")
    let removal = try read()
    #expect(removal.addressee == .profile && removal.parts.map(\.kind) == [.profileRemoval])
    try write("photo.jpg", "x")
    let change = try read()
    #expect(change.parts.map(\.kind) == [.profile] && change.digest != removal.digest)
    #expect(change.conversation(defaultInbox: InboxID(unchecked: "me")) == .profile(of: InboxID(unchecked: "me")))
    try write("from", "you")
    #expect(try read().conversation(defaultInbox: InboxID(unchecked: "me")) == .profile(of: InboxID(unchecked: "you")))
  }

  @Test func aProfileRequestHasNoTextAndNoSecondPhoto() throws {
    try write("kind", "profile")
    try write("text", "hello")
    #expect(refusal() == "kind is profile, and a profile photo has no text; remove the file text")
    try FileManager.default.removeItem(atPath: scratch.path("text"))
    for name in ["photo-1", "photo-2"] { try write(name, name) }
    #expect(refusal().contains("the request holds 2 photos; leave one to set it, or none to remove"))
  }

  @Test("A caption of nothing but blanks is no text", arguments: ["", "\n", " \n", "\t\r\n\n"])
  func emptyCaption(text: String) throws {
    try write("text", text)
    #expect(refusal().contains("neither photo nor text"))
    try write("photo", "x")
    #expect(try read().parts.map(\.file) == ["photo"])
  }

  @Test(
    "What an editor adds to a name unseen is refused by its own name",
    arguments: [
      ("\u{FEFF}family\n", "begins with a byte order mark"), ("family\r\n", "ends in a Windows line end"),
      ("family\r", "ends in a Windows line end"), ("family \n", "begins or ends with a blank"),
      ("\u{A0}family", "begins or ends with a blank"), ("   \n", "begins or ends with a blank"),
    ])
  func unseen(text: String, sentence: String) throws {
    try write("text", "hello")
    try write("to", text)
    #expect(refusal().hasPrefix("to: the name \(sentence)"))
    try write("to", "family")
    try write("from", text)
    #expect(refusal().hasPrefix("from: the name \(sentence)"))
  }

  @Test func anEditorsBackupOfAPhotoIsNone() throws {
    try write("photo.jpg", "x")
    try write("photo.jpg~", "y")
    #expect(refusal() == "photo.jpg~ is an editor's backup, and would be sent as a photo; remove it")
  }

  @Test func theErrorOfAnEarlierFailureIsPassedOver() throws {
    try write("text", "hello")
    try write("error", "it failed\n")
    #expect(try read().parts.map(\.file) == ["text"])
  }

  @Test func digestsDifferExactlyWhenContentsDo() throws {
    try write("text", "hello")
    let first = try read().digest
    #expect(try read().digest == first)
    try write("text", "hello!")
    let second = try read().digest
    try write("to", "friends")
    #expect(try Set([first, second, read().digest]).count == 3)
  }

  @Test(arguments: [
    ("to", "", "the conversation is empty"), ("to", "a\nb", "holds a line break"),
    ("to", "a\u{7}", "control character"),
    ("to", String(repeating: "x", count: 256), "256 bytes long; the limit is 255"), ("id", "a b", "the id is not"),
    ("id", "", "the id is not"), ("from", "\n", "the inbox is empty"), ("kind", "photo", "neither message nor profile"),
    ("notes", "x", "notes is not part of a request"),
    (".hidden", "x", ".hidden is not part of a request"), ("photo", "", "the photo is empty"),
    (".sum", "nonsense\n", ".sum: line 1 is not"), (".sum", "", ".sum: text is not listed"),
  ])
  func aWrongFileIsRefusedWithASentence(_ file: String, _ contents: String, _ sentence: String) throws {
    try write("text", "hello")
    try write(file, contents)
    #expect(refusal().contains(sentence), "\(refusal())")
  }

  @Test func sizesAreLimited() throws {
    try write("text", Data(count: 65_536))
    #expect(try read().parts.count == 1)
    try write("text", Data(count: 65_536) + Data("\n".utf8))
    #expect(try read().parts.count == 1)
    try write("text", Data(count: 65_537))
    #expect(refusal().contains("text has 65537 bytes; the limit is 65536"))
    try write("text", "x")
    try write("photo", Data(count: 10_000_001))
    #expect(refusal().contains("photo has 10000001 bytes; the limit is 10000000"))
  }

  @Test func countsAreLimited() throws {
    for number in 0..<10 { try write("photo-\(number)", "x") }
    #expect(try read().parts.count == 10)
    try write("photo-x", "x")
    #expect(refusal().contains("holds 11 photos; the limit is 10"))
    for number in 0..<20 { try write("photo-y\(number)", "x") }
    #expect(refusal().contains("more than 18 names"))
  }

  @Test func badUTF8IsRefusedInEveryField() throws {
    for file in ["text", "from", "to"] {
      try write("text", "x")
      try write(file, Data([0x63, 0xe9]))
      #expect(refusal().contains("\(file) is not UTF-8"))
      try FileManager.default.removeItem(atPath: scratch.path(file))
      try write("to", "family")
    }
  }

  @Test func aSumHasToListExactlyWhatIsThere() throws {
    try write("text", "hello")
    let right = ["text", "to"].map { name in
      let bytes = Array((try? Data(contentsOf: URL(fileURLWithPath: scratch.path(name)))) ?? Data())
      return "\(SHA256Digest(of: bytes).hex) \(bytes.count) \(name)\n"
    }
    try write(".sum", right.joined())
    #expect(try read().parts.count == 1)
    try write(".sum", right.joined() + "\(SHA256Digest(of: []).hex) 0 photo\n")
    #expect(refusal().contains("photo is listed and missing"))
    try write(".sum", right.joined())
    try write("text", "hellO")
    #expect(refusal().contains("text does not have its SHA-256"))
  }

  @Test func aFileThatIsStillBeingWrittenIsRefused() throws {
    try write("text", "hello")
    let writer = try #require(FileHandle(forWritingAtPath: scratch.path("text")))
    #expect(refusal().contains("still has text open for writing"))
    try writer.close()
    #expect(try read().parts.count == 1)
  }

  @Test func nothingAndNobodyIsRefused() throws {
    #expect(refusal().contains("neither photo nor text"))
    try write("text", "x")
    try FileManager.default.removeItem(atPath: scratch.path("to"))
    #expect(refusal().contains("no file named to"))
  }
}

@Suite struct RequestNameTests {
  @Test(arguments: ["a", "A-1_b.c", String(repeating: "x", count: 128)])
  func goodNamesAreNames(_ text: String) { #expect(RequestName(text)?.text == text) }

  @Test(arguments: ["", ".a", "-a", "a b", "a/b", "ä", "a\n", String(repeating: "x", count: 129), ".."])
  func badNamesAreNone(_ text: String) { #expect(RequestName(text) == nil) }

  @Test func alternativesAreNamesOfTheSameGrammar() throws {
    let long = try #require(RequestName(String(repeating: "x", count: 128)))
    #expect(long.alternative(1) == long)
    #expect(long.alternative(12).text.hasSuffix("x.12") && RequestName(long.alternative(12).text) != nil)
  }
}
