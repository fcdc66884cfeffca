import TestSupport
import Testing

@testable import Spooling

struct TrashTests {
  @Test("one who empties the trash takes it from nobody who uses it")
  func emptiedMeanwhile() throws {
    let scratch = try TemporaryDirectory()
    let spool = try Spool(creating: scratch.path("spool"))
    let used = try Trash(spool)
    for name in ["first", "second"] {
      _ = try spool.tmp.directory(creating: name)
      let taken = try #require(try used.take(name, from: spool.tmp))
      try Trash(spool).empty()
      #expect(throws: (any Error).self) { try taken.directory() }
      try taken.delete()
    }
  }
}
