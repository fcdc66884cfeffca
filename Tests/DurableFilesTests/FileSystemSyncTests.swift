import Foundation
import TestSupport
import Testing

@testable import DurableFiles

@Suite struct FileSystemSyncTests {
  @Test("A file system on a disk or in memory is synced as a whole; one that promises nothing of the kind is not")
  func kinds() throws {
    let scratch = try TemporaryDirectory()
    let directory = try Directory(path: scratch.path)
    try directory.write([1, 2, 3], as: "file", isSynced: false)
    if let fileSystem = try FileSystemSync(of: directory) { #expect(fileSystem.sync()) }
    #expect(try directory.file("file").contents(limit: 10) == [1, 2, 3])
    let memory = try #require(try FileSystemSync(of: Directory(path: "/dev/shm")))
    for _ in 0..<2 { #expect(memory.sync()) }
    #expect(try FileSystemSync(of: Directory(path: "/proc")) == nil)
  }

  @Test("What waits for a disk is read from the kernel's own figures")
  func waiting() {
    let figures =
      "MemTotal:       24105 kB\nDirty:             12 kB\nWriteback:          3 kB\nWritebackTmp:       9 kB\n"
    #expect(FileSystemSync.waiting(in: figures) == 15 * 1024)
    for other in ["", "Dirty: 12 kB\n", "Dirty:\nWriteback: 3 kB\n", "Dirty: many kB\nWriteback: 3 kB\n"] {
      #expect(FileSystemSync.waiting(in: other) == nil)
    }
  }

  @Test func aFileIsWrittenOverWhatWasThere() throws {
    let scratch = try TemporaryDirectory()
    let directory = try Directory(path: scratch.path)
    try directory.write([1, 2, 3], as: "file")
    try directory.write([4], as: "file", isSynced: false)
    #expect(try directory.file("file").contents(limit: 10) == [4])
    #expect(try directory.names() == ["file"])
  }
}
