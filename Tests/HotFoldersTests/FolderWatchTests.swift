import DurableFiles
import Foundation
import InMemoryLogging
import Logging
import Settings
import Spooling
import TestSupport
import Testing

@testable import HotFolders

@Suite struct FolderWatchTests {
  private let scratch: TemporaryDirectory
  private let spool: Spool
  private static let jpeg: [UInt8] = [0xFF, 0xD8, 0xFF, 0xE0, 0, 5, 1, 2, 3, 0xFF, 0xD9]

  init() throws {
    scratch = try TemporaryDirectory()
    spool = try Spool(creating: scratch.path("spool"))
    for name in ["hot", "state"] {
      try FileManager.default.createDirectory(atPath: scratch.path(name), withIntermediateDirectories: true)
    }
  }

  private func folder(to conversation: String = "family", after: WatchedFolder.After = .move) -> WatchedFolder {
    var folder = WatchedFolder(folder: scratch.path("hot"), conversation: conversation)
    (folder.after, folder.quiet) = (after, .zero)
    return folder
  }

  private func look(
    _ folder: WatchedFolder, unfinished: Duration = .seconds(600), log: any LogHandler = SwiftLogNoOpLogHandler(),
    now: @escaping () -> ContinuousClock.Instant = { .now }
  ) throws -> FolderWatch {
    let watch = try FolderWatch(
      [folder], spool: spool.path, state: scratch.path("state"), unfinished: unfinished, now: now,
      log: Logger(label: "test") { _ in log })
    _ = watch.round()
    return watch
  }

  private func put(_ path: String, _ bytes: [UInt8] = jpeg, modified: Double = 0) throws {
    let url = URL(fileURLWithPath: scratch.path("hot/\(path)"))
    try FileManager.default.createDirectory(at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
    try Data(bytes).write(to: url)
    try FileManager.default.setAttributes(
      [.modificationDate: Date(timeIntervalSince1970: modified)], ofItemAtPath: url.path)
  }

  private func names(_ path: String) -> [String] {
    ((try? FileManager.default.contentsOfDirectory(atPath: scratch.path("hot/\(path)"))) ?? []).sorted()
  }

  private func field(_ name: String) throws -> [String] {
    try spool.new.names().map { request in
      String(decoding: try spool.new.directory(request).file(name).contents(limit: 1000) ?? [], as: UTF8.self)
        .trimmingCharacters(in: .newlines)
    }
  }

  @Test("Files are sent in the order of their contents' age, and moved away") func moves() throws {
    try put("2026/11/b.jpg", modified: 1)
    try put("a.jpg", modified: 2)
    _ = try look(folder())
    let requests = try spool.new.names()
    #expect(
      try requests.map { try spool.new.directory($0).names()[1...] } == [
        ["id", "photo-00-b.jpg", "to"], ["id", "photo-00-a.jpg", "to"],
      ])
    #expect(names("") == [".sent", "2026"])
    #expect(names("2026/11/.sent") == ["b.jpg"])
    // The same name again is another photo, and both are kept.
    try put("a.jpg", modified: 3)
    _ = try look(folder())
    #expect(try spool.new.names().count == 3)
    #expect(Set(try field("id")).count == 3)
    #expect(names(".sent") == ["2.a.jpg", "a.jpg"])
  }

  @Test("The folder names the conversation, and a file above it is left") func folders() throws {
    try put("door/2026/a.jpg")
    try put("b.jpg")
    _ = try look(folder(to: "cam-{folder1}"))
    #expect(try field("to") == ["cam-door"])
    #expect(names("") == ["b.jpg", "door"])
  }

  @Test("What is incomplete, no image, hidden, a link, deleted or a snapshot of network storage is left")
  func left() throws {
    try put("half.jpg", Array(Self.jpeg.dropLast()))
    try put("empty.jpg", [])
    try put("notes.txt", Array("hello".utf8))
    try put("a.jpg.part")
    for folder in ["@Recycle", "$RECYCLE.BIN", "#snapshot/2026", "System Volume Information", "@eaDir"] {
      try put("\(folder)/a.jpg")
    }
    try FileManager.default.createSymbolicLink(atPath: scratch.path("hot/link.jpg"), withDestinationPath: "half.jpg")
    let before = names("")
    let watch = try look(folder())
    #expect(try spool.new.names() == [])
    #expect(names("") == before)
    // Its sender completes it.
    try put("half.jpg", modified: 9)
    _ = watch.round()
    #expect(try spool.new.names().count == 1)
  }

  @Test("An incomplete file that nobody completes in time goes to .failed/ with the reason") func givenUp() throws {
    try put("half.jpg", Array(Self.jpeg.dropLast()))
    _ = try look(folder(), unfinished: .zero)
    #expect(names("") == [".failed"] && names(".failed") == ["half.jpg", "half.jpg.error"])
    let error = try String(contentsOfFile: scratch.path("hot/.failed/half.jpg.error"), encoding: .utf8)
    #expect(error.contains("ends too early"))
    // A folder whose files stay is not changed.
    try put("other.jpg", Array(Self.jpeg.dropLast()))
    var keeping = folder(after: .keep)
    keeping.existing = .send
    _ = try look(keeping, unfinished: .zero)
    #expect(names("") == [".failed", "other.jpg"])
    #expect(try spool.new.names() == [])
  }

  @Test(
    "An upload that pauses is sent once and whole after it is resumed, and given up after ten minutes",
    arguments: [WatchedFolder.After.move, .delete, .keep])
  func resumed(_ after: WatchedFolder.After) throws {
    var time = ContinuousClock.now
    var folder = folder(after: after)
    folder.quiet = .seconds(2)
    let watch = try look(folder) { time }
    func pass(_ duration: Duration) -> Int? {
      time += duration
      _ = watch.round()
      return try? spool.new.names().count
    }
    for (number, pause) in [Duration.seconds(1), .seconds(300), .seconds(599)].enumerated() {
      try put("\(number).jpg", Array(Self.jpeg.dropLast()), modified: 1)
      #expect(pass(.zero) == number)
      #expect(pass(pause) == number)
      try put("\(number).jpg", modified: 2)
      #expect(pass(.zero) == number)
      #expect(pass(.seconds(2)) == number + 1)
      #expect(pass(.seconds(600)) == number + 1)
    }
    #expect(try spool.new.names().allSatisfy { try spool.new.directory($0).names().count == 4 })
    try put("half.jpg", Array(Self.jpeg.dropLast()), modified: 1)
    #expect(pass(.zero) == 3)
    #expect(pass(.seconds(600)) == 3)
    let left = [WatchedFolder.After.move: [".failed", ".sent"], .delete: [".failed"]]
    #expect(names("") == left[after] ?? ["0.jpg", "1.jpg", "2.jpg", "half.jpg"])
  }

  @Test("A file of which only the size is there waits for its contents") func sizeFirst() throws {
    let begin: [UInt8] =
      [0, 0, 0, 16] + Array("ftypheic".utf8) + [0, 0, 0, 0] + [0, 0, 0, 8] + Array("meta".utf8)
      + [0, 0, 0, 108] + Array("mdat".utf8)
    try put("a.heic", begin + [UInt8](repeating: 0, count: 100), modified: 1)
    let watch = try look(folder())
    #expect(try spool.new.names() == [])
    try put("a.heic", begin + [UInt8](repeating: 7, count: 100), modified: 1)
    _ = watch.round()
    #expect(names(".sent") == ["a.heic"])
  }

  @Test("Known files take no place from others, however many there are") func many() throws {
    for number in 0..<9 { try put("\(number).jpg", modified: Double(number)) }
    var known = Set<String>()
    let walk = try FolderWalk(scratch.path("hot"), most: 2) { file in
      known.insert(file.name)
      return file.name > "1.jpg"
    }
    #expect(walk.files.map(\.name) == ["0.jpg", "1.jpg"])
    #expect(known.count == 9)
  }

  @Test("A file that keeps the name of an unfinished one for long is named once") func passing() throws {
    let log = InMemoryLogHandler()
    try put("a.jpg.part")
    try put("day/.in.b.jpg.")
    _ = try look(folder(), log: log)
    #expect(log.entries.isEmpty)
    let watch = try look(folder(), unfinished: .zero, log: log)
    _ = watch.round()
    #expect(log.entries.compactMap { $0.metadata["file"]?.description }.sorted() == ["a.jpg.part", "day/.in.b.jpg."])
    #expect(names("") == ["a.jpg.part", "day"])
  }

  @Test("A file that cannot be taken away is sent once and named once, until it can") func stuck() throws {
    let log = InMemoryLogHandler()
    // Too long for the name that it has before it is moved.
    let name = String(repeating: "a", count: 240) + ".jpg"
    try put(name)
    let watch = try look(folder(), log: log)
    for _ in 0..<3 { _ = watch.round() }
    #expect(try spool.new.names().count == 1)
    #expect(names("") == [name])
    #expect(log.entries.map(\.message) == ["a file was sent, and cannot be taken away"])
    #expect(rename(scratch.path("hot/\(name)"), scratch.path("hot/short.jpg")) == 0)
    _ = watch.round()
    #expect(names(".sent") == ["short.jpg"])
  }

  @Test("Three hundred files at once are sent in their order, each once, and deleted") func burst() throws {
    for number in 0..<300 { try put("\(number).jpg", modified: Double(number)) }
    let watch = try look(folder(after: .delete))
    _ = watch.round()
    let photos = try spool.new.names().map { request in
      try spool.new.directory(request).names().first { $0.hasPrefix("photo-00-") }
    }
    #expect(photos == (0..<300).map { "photo-00-\($0).jpg" })
    #expect(names("") == [])
  }

  @Test("Ten files that come under one name are ten photos, and all are kept") func sameName() throws {
    let watch = try look(folder())
    for number in 0..<10 {
      try put("snapshot.jpg", modified: Double(number))
      _ = watch.round()
    }
    #expect(Set(try field("id")).count == 10)
    #expect(names(".sent").count == 10)
  }

  @Test("A file over the limit goes to .failed/ with the reason") func large() throws {
    try put("large.jpg", Self.jpeg + [UInt8](repeating: 0, count: 10_000_000))
    _ = try look(folder())
    #expect(names(".failed") == ["large.jpg", "large.jpg.error"])
    let error = try String(contentsOfFile: scratch.path("hot/.failed/large.jpg.error"), encoding: .utf8)
    #expect(error.contains("10000011 bytes; the limit is 10000000"))
  }

  @Test(
    "A file that a crash left between sending and taking it away is sent again under the same key",
    arguments: [WatchedFolder.After.move, .delete])
  func crash(_ after: WatchedFolder.After) throws {
    try put("a.jpg")
    // The same file is dropped, and then the process dies.
    let found = try FolderWalk(scratch.path("hot")).files
    try #require(found.count == 1)
    let kept = scratch.path("kept")
    try FileManager.default.linkItem(atPath: scratch.path("hot/a.jpg"), toPath: kept)
    _ = try look(folder(after: after))
    try? FileManager.default.removeItem(atPath: scratch.path("hot/.sent/a.jpg"))
    try FileManager.default.moveItem(atPath: kept, toPath: scratch.path("hot/.a.jpg.photospool-sent"))
    let watch = try look(folder(after: after))
    _ = watch.round()
    #expect(Set(try field("id")).count == 1)
    #expect(try spool.new.names().count == 2)
    #expect(names("") == (after == .move ? [".sent"] : []))
    #expect(names(".sent") == (after == .move ? ["a.jpg"] : []))
  }

  @Test("Files stay and are sent once, and those that were there first not at all") func stays() throws {
    var keeping = folder(after: .keep)
    try put("before.jpg")
    _ = try look(keeping)
    #expect(try spool.new.names() == [])
    try put("2026/a.jpg", modified: 5)
    keeping.text = WatchedFolder.Text("{name} of {folder}")
    _ = try look(keeping)
    // Another process knows it, too; a file that is written anew is another photo.
    try put("half.jpg", Array(Self.jpeg.dropLast()))
    let watch = try look(keeping)
    #expect(try field("text") == ["a.jpg of 2026"])
    try put("2026/a.jpg", modified: 6)
    _ = watch.round()
    #expect(try field("text") == ["a.jpg of 2026", "a.jpg of 2026"])
    #expect(names("") == ["2026", "before.jpg", "half.jpg"] && names("2026") == ["a.jpg"])
  }

  @Test("Files that were there first are sent if that is wanted, and a half line of the list is no file")
  func existing() throws {
    var keeping = folder(after: .keep)
    keeping.existing = .send
    try put("a.jpg")
    _ = try look(keeping)
    #expect(try spool.new.names().count == 1)
    let list = try #require(
      FileManager.default.enumerator(atPath: scratch.path("state"))?.compactMap { $0 as? String }.last)
    let path = scratch.path("state/\(list)")
    let text = try String(contentsOfFile: path, encoding: .utf8)
    #expect(text.hasPrefix("# \(scratch.path("hot"))\nwatch."))
    // A crash cut the line: the same file again, under the same key.
    try text.dropLast(20).write(toFile: path, atomically: false, encoding: .utf8)
    _ = try look(keeping)
    #expect(Set(try field("id")).count == 1)
    #expect(try String(contentsOfFile: path, encoding: .utf8) == text)
  }

  @Test("A text of a file takes no brace of a name for a place") func texts() throws {
    let text = try #require(WatchedFolder.Text("{time}: {name} in {folder}"))
    #expect(text.filled(name: "{folder}", folder: "a", time: "now") == "now: {folder} in a")
    for wrong in ["", "{file}", "{name", String(repeating: "a", count: 1_001)] {
      #expect(WatchedFolder.Text(wrong) == nil)
    }
  }
}
