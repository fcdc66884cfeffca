import CKernel
import Foundation
import Glibc
import TestSupport
import Testing

@testable import DurableFiles

@Suite struct DirectoryTests {
  private let scratch: TemporaryDirectory
  private let directory: Directory

  init() throws {
    scratch = try TemporaryDirectory()
    directory = try Directory(path: scratch.path)
  }

  @Test func aFileIsWrittenWholeOverWhatWasThere() throws {
    try directory.write([1, 2, 3], as: "file")
    try directory.write([4], as: "file")
    #expect(try directory.file("file").contents(limit: 10) == [4])
    #expect(try directory.names() == ["file"])
  }

  @Test func aTreeGoesWhateverItsNamesAre() throws {
    for name: [UInt8] in [[0x46, 0xfc, 0xdf], [0xff], [0xff, 0xfe], [0x1b]] {
      let below = try directory.directory(creating: "tree").directory(creating: "below")
      #expect(mkdir(below.path + "/\(name.count)", 0o700) == 0)
      #expect(
        rename(
          Array((below.path + "/\(name.count)").utf8CString),
          Array((below.path + "/").utf8).map { CChar($0) } + name.map { CChar(bitPattern: $0) } + [0]) == 0)
    }
    try directory.removeTree("tree")
    #expect(try directory.entry("tree") == nil)
  }

  @Test("Nothing is read beyond the name of a directory record, where the memory may end")
  func recordAtTheEndOfMemory() throws {
    let page = sysconf(Int32(_SC_PAGESIZE))
    let memory = try #require(mmap(nil, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0))
    defer { munmap(memory, 2 * page) }
    #expect(memory != MAP_FAILED && mprotect(memory + page, page, PROT_NONE) == 0)
    // A record of getdents64(2): inode, position, length, kind and name, padded to eight bytes.
    let record = memory + page - 24
    (record + 19).copyMemory(from: [UInt8]("r1\0".utf8), byteCount: 3)
    let name = try #require(ckernel_entry_name(record.assumingMemoryBound(to: dirent.self)))
    #expect(Directory.name(name) == Array("r1".utf8))
  }

  @Test("Every listing gives every entry with its kind, however many there are")
  func entriesWithTheirKinds() throws {
    // More records than one call reads.
    let names = (1...300).map { "a rather long name of a file \($0)" }
    for name in names { try directory.write([], as: name) }
    _ = try directory.make("directory")
    try FileManager.default.createSymbolicLink(atPath: scratch.path("link"), withDestinationPath: "/etc")
    #expect(mkfifo(scratch.path("fifo"), 0o600) == 0)
    for _ in 1...2 {
      var kinds = [String: Entry.Kind]()
      try directory.forEachEntry { name, kind in
        let name = String(decoding: name, as: UTF8.self)
        // Filesystems without kinds are asked for each entry.
        kinds[name] = try kind ?? directory.entry(name)?.kind
        return true
      }
      #expect(kinds.count == names.count + 3 && names.allSatisfy { kinds[$0] == .file })
      #expect(kinds["directory"] == .directory && kinds["link"] == .symbolicLink && kinds["fifo"] == .fifo)
    }
    var met = 0
    try directory.forEachEntry { _, _ in
      met += 1
      return met < 5
    }
    #expect(met == 5)
  }

  @Test func aMoveReplacesNothing() throws {
    try directory.write([1], as: "one")
    try directory.write([2], as: "two")
    #expect(try !directory.move("one", to: directory, as: "two"))
    #expect(try directory.file("two").contents(limit: 10) == [2])
    #expect(try directory.move("one", to: directory, as: "three"))
  }

  @Test(arguments: ["../outside", "..", "link", "link/passwd"])
  func nothingOutsideIsOpened(_ name: String) throws {
    try FileManager.default.createSymbolicLink(atPath: scratch.path("link"), withDestinationPath: "/etc")
    #expect(throws: FileError.self) { try directory.file(name) }
    #expect(throws: FileError.self) { try directory.directory(name) }
  }

  @Test func aTreeIsRemovedWithoutFollowingLinks() throws {
    let kept = try TemporaryDirectory()
    try Directory(path: kept.path).write([1], as: "kept")
    let tree = try directory.directory(creating: "tree").directory(creating: "deeper")
    try tree.write([1], as: "file")
    try FileManager.default.createSymbolicLink(
      atPath: scratch.path("tree/deeper/link"), withDestinationPath: kept.path)
    try directory.removeTree("tree")
    try directory.removeTree("tree")
    #expect(try directory.names().isEmpty)
    #expect(try Directory(path: kept.path).names() == ["kept"])
  }

  @Test func readingLeavesTheTimeOfReadingAlone() throws {
    try directory.write([1], as: "file")
    let long = [timespec(tv_sec: 1, tv_nsec: 0), timespec(tv_sec: 2, tv_nsec: 0)]
    #expect(utimensat(AT_FDCWD, scratch.path("file"), long, 0) == 0)
    #expect(try directory.file("file").contents(limit: 1) == [1])
    var status = stat()
    #expect(lstat(scratch.path("file"), &status) == 0 && status.st_atim.tv_sec == 1)
  }

  @Test func nestedFilesOpenInOneStepAndNeverThroughLinks() throws {
    let inner = try directory.directory(creating: "inner")
    try inner.write([1], as: "file")
    try FileManager.default.createSymbolicLink(atPath: scratch.path("link"), withDestinationPath: "inner")
    #expect(try directory.file(at: "inner/file").contents(limit: 1) == [1])
    for path in ["link/file", "inner/../inner/file/..", "../\(inner.path)/file", "inner/missing"] {
      #expect(throws: FileError.self) { try directory.file(at: path) }
    }
  }

  @Test func readingStopsAtItsLimit() throws {
    try directory.write([UInt8](repeating: 7, count: 1000), as: "file")
    let file = try directory.file("file")
    #expect(try file.contents(limit: 1000)?.count == 1000)
    #expect(try file.contents(limit: 999) == nil)
    #expect(try file.bytes(from: 990, count: 100).count == 10)
  }

  @Test func copyingReplacesWhatACrashLeftAndStopsAtItsLimit() throws {
    let bytes = (0..<600_000).map { UInt8(truncatingIfNeeded: $0 / 251) }
    try directory.put(bytes, as: "file")
    try directory.put([1], as: "copy")
    let file = try directory.file("file")
    #expect(try directory.put(file, limit: 600_000, as: "copy") == 600_000)
    #expect(try directory.file("copy").contents(limit: 1_000_000) == bytes)
    #expect(try directory.put(file, limit: 599_999, as: "copy") == 600_000)
  }

  @Test func aLockExcludesOthersUntilItIsReleased() throws {
    let (first, second) = (try FileLock("lock", in: directory), try FileLock("lock", in: directory))
    #expect(try first.tryAcquire())
    #expect(try !second.tryAcquire())
    first.release()
    #expect(try second.tryAcquire())
    try second.write(note: "7\n")
    #expect(try first.note() == "7\n")
  }
}
