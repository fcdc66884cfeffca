import Digests
import DurableFiles
import Foundation
import Messages
import Spooling
import TestSupport
import Testing

@Suite struct ArrivalTests {
  private let scratch: TemporaryDirectory
  private let spool: Spool

  init() throws {
    scratch = try TemporaryDirectory()
    spool = try Spool(creating: scratch.path("spool"))
  }

  private func submit(_ text: String) throws -> String {
    try Submission(to: ConversationID("family"), from: nil, key: nil, text: text, photos: []).drop(into: spool.path)
      .text
  }

  private func order() throws -> [String] {
    let scan = try ArrivalScan(spool.new)
    return (0..<scan.count).map { scan[$0].name }
  }

  /// Returns when a rename gets a later time than the request.
  private func letTheFilesystemsClockTick(beyond name: String) throws {
    let renamed = try #require(try spool.new.entry(name)).changed
    repeat {
      try spool.tmp.removeEmpty("probe")
      _ = try spool.tmp.make("probe")
    } while try #require(try spool.tmp.entry("probe")).changed <= renamed
    try spool.tmp.removeEmpty("probe")
  }

  @Test(
    "A counter that a power cut took or brought back goes on behind what waits, although the clock was set back",
    arguments: ["", "7\n", "7\nanother boot\n"])
  func lostCounter(_ note: String) throws {
    let first = try submit("first")
    // Numbered when the clock was far ahead.
    let ahead = "o1zzzzzzzzzzzz" + first.dropFirst(14)
    _ = try spool.new.move(first, to: spool.new, as: ahead)
    try Data(note.utf8).write(to: URL(fileURLWithPath: "\(spool.path)/tmp/.order"))
    let (second, third) = (try submit("second"), try submit("third"))
    #expect([ahead, second, third] == [ahead, second, third].sorted())
  }

  @Test("A photo keeps its user's name behind its number, cleaned and cut, and a stream has none")
  func photosKeepTheirNames() throws {
    let long = String(repeating: "ü", count: 120) + ".jpeg"
    let names = ["b.jpg", "a\u{1b}[2J \u{202e}~.png", ".hidden", "日本 写真.heic", long, "cat.jpg~"]
    for name in names { try Data("photo".utf8).write(to: URL(fileURLWithPath: scratch.path(name))) }
    let photos =
      try names.map { try File(reading: scratch.path($0)) } + [File(readingStream: "/dev/zero", limit: 100)]
    let name = try Submission(to: ConversationID("family"), from: nil, key: nil, text: nil, photos: photos)
      .drop(into: spool.path)
    let request = try RequestReader(spool.new.directory(name.text)).request
    let files = request.parts.map(\.file)
    #expect(
      files == [
        "photo-00-b.jpg", "photo-01-a__2J___.png", "photo-02-.hidden", "photo-03-日本_写真.heic",
        "photo-04-" + String(repeating: "ü", count: 47) + ".jpeg", "photo-05-cat.jpg_", "photo-06",
      ])
  }

  @Test("The same photos under other names are the same request")
  func namesAreNoContents() throws {
    func digest(_ name: String) throws -> SHA256Digest {
      try Data("photo".utf8).write(to: URL(fileURLWithPath: scratch.path(name)))
      let request = try Submission(
        to: ConversationID("family"), from: nil, key: nil, text: nil, photos: [File(reading: scratch.path(name))]
      ).drop(into: spool.path)
      return try RequestReader(spool.new.directory(request.text)).request.digest
    }
    #expect(try digest("one.jpg") == digest("two.jpg"))
  }

  @Test func namesThatOnlyLookNumberedBlockNobody() throws {
    let name = try submit("first")
    let path = "\(spool.path)/new"
    try Data().write(to: URL(fileURLWithPath: "\(path)/o0000000000001-file"))
    #expect(mkfifo("\(path)/o0000000000001-pipe", 0o600) == 0)
    #expect(symlink("nowhere", "\(path)/o0000000000001-link") == 0)
    #expect(try Set(order()) == [name, "o0000000000001-file", "o0000000000001-pipe", "o0000000000001-link"])
  }

  @Test func submittedRequestsAreFoundWholeAndInOrder() throws {
    let names = try (0..<50).map { try submit("\($0)") }
    #expect(try order() == names && names == names.sorted())
    let request = try RequestReader(spool.new.directory(names[7])).request
    #expect(
      request.parts.map(\.file) == ["text"] && request.addressee == .conversation(ConversationID(unchecked: "family")))
    #expect(try spool.tmp.names().allSatisfy { $0.hasPrefix(".") })
  }

  @Test func manySubmittersAtOnceNeverShareAPlace() async throws {
    let spool = spool
    let names = try await withThrowingTaskGroup(of: [String].self) { group in
      for _ in 0..<4 {
        group.addTask {
          try (0..<25).map { number in
            try Submission(
              to: ConversationID("family"), from: nil, key: nil, text: "\(number)", photos: []
            ).drop(into: spool.path).text
          }
        }
      }
      var all = [String]()
      for try await own in group {
        #expect(own == own.sorted())
        all += own
      }
      return all
    }
    #expect(Set(names.map { $0.prefix(14) }).count == 100)
    #expect(try order() == names.sorted())
  }

  @Test func aDamagedOrTakenCounterStopsNobody() throws {
    let first = try submit("1")
    try Data("nonsense".utf8).write(to: URL(fileURLWithPath: "\(spool.path)/tmp/.order"))
    let second = try submit("2")
    let lock = try FileLock(".order", in: spool.tmp)
    try lock.acquire()
    let third = try submit("3")
    lock.release()
    #expect(try order() == [first, second, third])
  }

  @Test func theClockMaySitBackWithoutDisturbingTheOrder() throws {
    let first = try submit("1")
    // The counter is far ahead of the clock, as after the clock was set back.
    let ahead = UInt64(Timestamp.now().milliseconds) * 1000 + 400 * 86_400_000_000
    try Data("\(ahead)\n".utf8).write(to: URL(fileURLWithPath: "\(spool.path)/tmp/.order"))
    let second = try submit("2")
    let third = try submit("3")
    #expect([first, second, third] == [first, second, third].sorted())
  }

  @Test func retriedRequestLosesItsPlace() throws {
    let first = try submit("1")
    let second = try submit("2")
    try letTheFilesystemsClockTick(beyond: second)
    #expect(try spool.new.move(first, to: spool.failed, as: first))
    try spool.failed.directory(first).write(Array("it failed\n".utf8), as: "error")
    #expect(try spool.failed.move(first, to: spool.new, as: first))
    #expect(try order() == [second, first])
  }

  @Test func namesThatAreNoUTF8AreKeptApart() throws {
    let path = (Array("\(spool.path)/new/".utf8) + [0xff, 0xfe, 0]).map(CChar.init(bitPattern:))
    #expect(mkdir(path, 0o700) == 0)
    let scan = try ArrivalScan(spool.new)
    #expect(scan.count == 0 && scan.foreign == [[0xff, 0xfe]])
    let name = try #require(try spool.quarantine([0xff, 0xfe], as: "unnamed", because: "no"))
    #expect(try spool.failed.directory(name.text).names() == ["entry", "error"])
    #expect(try ArrivalScan(spool.new).foreign.isEmpty)
  }

  @Test func aSpoolThatEverybodyCanWriteToIsRefused() throws {
    #expect(chmod(spool.path, 0o777) == 0)
    #expect(throws: SpoolError.openToEverybody(spool.path)) { try Spool(creating: spool.path) }
  }

  @Test func aDirectoryThatIsNoSpoolSaysWhatIsMissing() throws {
    #expect(throws: SpoolError.notASpool(scratch.path, missing: "tmp")) { try Spool(opening: scratch.path) }
  }
}
