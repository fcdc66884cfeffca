import DurableFiles
import Foundation
import Messages
import Spooling
import TestSupport
import Testing

@testable import Delivery

@Suite(.timeLimit(.minutes(5))) struct IntakeBatchTests {
  @Test("Files that stay open are waited for, and those of many end the batch before others have waited long")
  func openFiles() throws {
    let scratch = try TemporaryDirectory()
    let spool = try Spool(creating: scratch.path("spool"))
    let names = (0..<40).map { "r\($0)" }
    var writers = [FileHandle]()
    for name in names {
      let request = try spool.new.directory(creating: name)
      try request.write(Array("family\n".utf8), as: "to")
      try request.write(Array("a text\n".utf8), as: "text")
      writers.append(try #require(FileHandle(forWritingAtPath: request.path(of: "text"))))
    }
    let batch = try IntakeBatch(
      names[...], in: spool, inbox: InboxID("me"), waiting: [], unconfirmed: UnconfirmedRequests(),
      leftAlone: LeftAlone())
    #expect(batch.taken > 0 && batch.taken < names.count && batch.requests.count == batch.taken)
    for request in batch.requests {
      guard case .failure(let error) = request.contents else {
        Issue.record("\(request.droppedAs) was taken, and is still written")
        continue
      }
      #expect(error.sentence.contains("still has text open"))
    }
    for writer in writers { try writer.close() }
  }
}
