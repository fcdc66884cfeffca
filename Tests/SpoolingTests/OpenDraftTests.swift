import DurableFiles
import Messages
import Spooling
import TestSupport
import Testing

/// A draft that is built file by file. Browser tests have it uploaded and sent.
@Suite struct OpenDraftTests {
  private let scratch: TemporaryDirectory
  private let spool: Spool
  private let draft: OpenDraft

  init() throws {
    scratch = try TemporaryDirectory()
    spool = try Spool(creating: scratch.path("spool"))
    let name = try #require(RequestName("web-1-a"))
    draft = try OpenDraft.begin(name, in: spool, to: ConversationID("family"), from: nil) { try $0.setText("first") }
  }

  private func add(_ name: String) throws -> String {
    try spool.tmp.put(Array(name.utf8), as: "upload")
    return try draft.add("upload", called: name)
  }

  private func photos() throws -> [String] { try draft.photos().map { PhotoName.original($0.file) } }

  @Test func aDraftIsInPlaceWithItsFirstFile() throws {
    #expect(try spool.draft.directory("web-1-a").names().sorted() == ["text", "to"])
    #expect(try spool.tmp.names() == [".order"])
    #expect(try OpenDraft.all(withPrefix: "web-", in: spool).map(\.name) == [draft.name])
    #expect(try OpenDraft.all(withPrefix: "other-", in: spool).isEmpty)
  }

  @Test func aDraftThatCannotBeFilledLeavesNothing() throws {
    struct Fault: Error {}
    let name = try #require(RequestName("web-1-b"))
    #expect(throws: Fault.self) {
      try OpenDraft.begin(name, in: spool, to: ConversationID("family"), from: nil) { _ in throw Fault() }
    }
    #expect(try spool.tmp.names() == [".order"])
    #expect(try spool.draft.names() == ["web-1-a"])
  }

  @Test func aPhotoKeepsItsPlaceWheneverItArrives() throws {
    func add(_ name: String, _ bytes: String, at place: Int) throws -> String {
      try spool.tmp.put(Array(bytes.utf8), as: "upload")
      return try draft.add("upload", called: name, at: place)
    }
    #expect(try add("second", "2", at: 1) == "photo-01-second")
    #expect(try add("first", "1", at: 0) == "photo-00-first")
    #expect(try photos() == ["first", "second"])
    // The same once more changes nothing. Another one at this place, or nowhere, is the last.
    #expect(try add("first", "1", at: 0) == "photo-00-first")
    #expect(try photos() == ["first", "second"])
    #expect(try add("first", "other", at: 0) == "photo-02-first")
    #expect(try add("third", "3", at: 0) == "photo-03-third")
    #expect(try add("far", "4", at: 1000) == "photo-04-far")
    #expect(try spool.tmp.names() == [".order"])
  }

  @Test func everyOrderOfPhotosIsPossibleHoweverOftenItChanges() throws {
    for name in ["a", "b", "c", "d"] { _ = try add(name) }
    var random = SeededRandom(seed: 7)
    for _ in 0..<100 {
      let files = try draft.photos().map(\.file).shuffled(using: &random)
      let wanted = files.map(PhotoName.original)
      #expect(try draft.order(files).map { PhotoName.original($0.file) } == wanted)
      #expect(try photos() == wanted)
    }
    #expect(try add("e").hasSuffix("-e"))
    #expect(try photos().last == "e")
  }

  @Test func photosThatAnOrderDoesNotNameStayBehindTheOthers() throws {
    let files = try ["a", "b", "c"].map(add)
    _ = try draft.order([files[2], "photo-77-unknown", files[2]])
    #expect(try photos() == ["c", "a", "b"])
  }

  @Test func anEleventhPhotoIsRefused() throws {
    for number in 0..<10 { _ = try add("\(number)") }
    #expect(throws: Refusal.tooManyPhotos(11)) { try add("more") }
  }

  @Test func onlyPhotosCanBeRemoved() throws {
    let file = try add("a")
    for name in ["to", "text", "../draft", file] { try draft.remove(name) }
    #expect(try draft.photos().isEmpty)
    #expect(draft.conversation?.text == "family")
    #expect(try draft.text() == "first")
  }

  @Test func sendKeepsTheNameAndWritesTheKey() throws {
    _ = try add("a")
    try draft.send(key: #require(IdempotencyKey("once")))
    #expect(try spool.draft.names().isEmpty)
    let sent = try spool.new.directory("web-1-a")
    #expect(try sent.field("id") == "once")
    #expect(try sent.names().sorted() == ["id", "photo-00-a", "text", "to"])
    #expect(try OpenDraft(draft.name, in: spool) == nil)
  }

  @Test func aDeletedDraftLeavesNothing() throws {
    try draft.delete(by: "trash")
    try draft.delete(by: "trash")
    #expect(try spool.draft.names().isEmpty)
    #expect(try spool.tmp.names() == [".order"])
  }
}
