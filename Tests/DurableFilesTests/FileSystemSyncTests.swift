import Foundation
import TestSupport
import Testing

@testable import DurableFiles

@Suite struct FileSystemSyncTests {
  @Test("A file system on a disk or in memory is synced as a whole; one that promises nothing of the kind is not")
  func kinds() throws {
    let scratch = try TemporaryDirectory()
    let directory = try Directory(path: scratch.path)
    try directory.put([1, 2, 3], as: "file")
    if let fileSystem = try FileSystemSync(of: directory) { #expect(fileSystem.sync()) }
    #expect(try directory.file("file").contents(limit: 10) == [1, 2, 3])
    let memory = try #require(try FileSystemSync(of: Directory(path: "/dev/shm")))
    for _ in 0..<2 { #expect(memory.sync()) }
    #expect(try FileSystemSync(of: Directory(path: "/proc")) == nil)
  }

  @Test("The kernel's own figures tell how many bytes wait for a disk")
  func waiting() {
    let figures =
      "MemTotal:       24105 kB\nDirty:             12 kB\nWriteback:          3 kB\nWritebackTmp:       9 kB\n"
    #expect(FileSystemSync.waiting(in: figures) == 15 * 1024)
    for other in ["", "Dirty: 12 kB\n", "Dirty:\nWriteback: 3 kB\n", "Dirty: many kB\nWriteback: 3 kB\n"] {
      #expect(FileSystemSync.waiting(in: other) == nil)
    }
  }

  @Test("One sync serves 16 requests and more while no more than 256 kB for each wait for a disk")
  func crowd() {
    #expect(!FileSystemSync.isQuick(for: 15, waiting: 0))
    #expect(FileSystemSync.isQuick(for: 16, waiting: 16 * 256_000))
    #expect(!FileSystemSync.isQuick(for: 16, waiting: 16 * 256_000 + 1))
    #expect(FileSystemSync.isQuick(for: 256, waiting: 256 * 256_000))
  }

  @Test func aFileIsWrittenOverWhatWasThere() throws {
    let scratch = try TemporaryDirectory()
    let directory = try Directory(path: scratch.path)
    try directory.write([1, 2, 3], as: "file")
    try directory.put([4], as: "file")
    #expect(try directory.file("file").contents(limit: 10) == [4])
    #expect(try directory.names() == ["file"])
  }
}
