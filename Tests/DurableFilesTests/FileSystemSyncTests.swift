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

  @Test("What waits for a disk is read from the kernel's own figures")
  func waiting() {
    let figures =
      "MemTotal:       24105 kB\nDirty:             12 kB\nWriteback:          3 kB\nWritebackTmp:       9 kB\n"
    #expect(FileSystemSync.waiting(in: figures) == 15 * 1024)
    for other in ["", "Dirty: 12 kB\n", "Dirty:\nWriteback: 3 kB\n", "Dirty: many kB\nWriteback: 3 kB\n"] {
      #expect(FileSystemSync.waiting(in: other) == nil)
    }
  }

  @Test("Everything is synced at once as long as that takes less time than each request by itself")
  func pace() {
    var pace = SyncPace()
    #expect(!pace.isQuick(for: SyncPace.crowd - 1, waiting: 0))
    #expect(pace.isQuick(for: SyncPace.crowd, waiting: 0))
    #expect(pace.isQuick(for: 256, waiting: 32_000_000))
    #expect(!pace.isQuick(for: SyncPace.crowd, waiting: 32_000_000))
    #expect(!pace.isQuick(for: 256, waiting: 1_000_000_000))
    for _ in 0..<5 { pace.learn(before: 100_000_000, after: 0, seconds: 10) }
    #expect(!pace.isQuick(for: 256, waiting: 32_000_000))
    for _ in 0..<9 { pace.learn(before: 100_000_000, after: 0, seconds: 0.1) }
    #expect(pace.isQuick(for: 256, waiting: 300_000_000))
    let known = pace.speed
    // A little is written in no time, or waits for its turn: neither says anything.
    pace.learn(before: 4096, after: 0, seconds: 1)
    #expect(pace.speed == known)
  }

  @Test("One sync that says something odd is soon forgotten")
  func oddTimes() {
    var pace = SyncPace()
    // Somebody has deleted a gigabyte that waited.
    pace.learn(before: 1_000_000_000, after: 0, seconds: 0.001)
    #expect(pace.speed < 2 * SyncPace().speed)
    pace.learn(before: 8_000_000, after: 0, seconds: 60)
    #expect(!pace.isQuick(for: 256, waiting: 32_000_000))
    for _ in 0..<5 { pace.learn(before: 20_000_000, after: 0, seconds: 0.1) }
    #expect(pace.isQuick(for: 256, waiting: 32_000_000))
  }

  @Test("What can be written in a second or two is written meanwhile, and no gigabytes")
  func catchingUp() {
    var pace = SyncPace()
    #expect(pace.canCatchUp(waiting: 100_000_000) && !pace.canCatchUp(waiting: 1_000_000_000))
    for _ in 0..<9 { pace.learn(before: 100_000_000, after: 0, seconds: 60) }
    // Enough to learn anew how fast the disk is.
    #expect(pace.canCatchUp(waiting: 12_000_000) && !pace.canCatchUp(waiting: 100_000_000))
  }

  @Test("What waits for another disk is left out, unless it may have come meanwhile")
  func elsewhere() {
    var pace = SyncPace()
    pace.learn(before: 2_000_000_000, after: 1_900_000_000, seconds: 0.05)
    #expect(pace.isQuick(for: SyncPace.crowd, waiting: 1_900_000_000))
    #expect(!pace.isQuick(for: SyncPace.crowd, waiting: 3_900_000_000))
    pace.learn(before: 2_000_000_000, after: 1_900_000_000, seconds: 8)
    #expect(!pace.isQuick(for: 256, waiting: 1_900_000_000))
  }

  @Test("What waited elsewhere and was written does not hide what waits here")
  func elsewhereIsOver() {
    var pace = SyncPace()
    pace.learn(before: 2_000_000_000, after: 1_900_000_000, seconds: 0.05)
    pace.look(at: 1_000_000)
    #expect(!pace.isQuick(for: 256, waiting: 1_900_000_000))
  }

  @Test("Catching up writes what waits, and crowds are synced together again after it")
  func catchUp() async throws {
    let scratch = try TemporaryDirectory()
    let directory = try Directory(path: scratch.path)
    guard let fileSystem = try FileSystemSync(of: directory) else { return }
    #expect(!fileSystem.catchUp(for: SyncPace.crowd - 1))
    fileSystem.catchUp(for: SyncPace.crowd)
    while !fileSystem.isQuick(for: 1_000_000) { try await Task.sleep(for: .milliseconds(10)) }
    #expect(fileSystem.sync())
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
