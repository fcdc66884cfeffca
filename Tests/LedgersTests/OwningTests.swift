import Clusters
import DurableFiles
import Ledgers
import Messages
import TestSupport
import Testing

struct OwningTests {
  @Test("a release that is entered again names its holds again")
  func namesHolds() async throws {
    let scratch = try TemporaryDirectory()
    let ledger = try Ledger(in: Directory(path: scratch.path), isDisposable: true)
    try await ledger.emptyOwned()
    let partition = Partition(of: ConversationID(unchecked: "family"))
    func enter(_ contents: RecordContents, at position: Position) async throws -> [Position] {
      let id = try #require(RecordID("0123456789abcdef0123456789abcdef"))
      let record = OwnedRecord(
        id: id, position: position, partition: partition, contents: contents, isInherited: false)
      return try await ledger.own([record], at: Timestamp(milliseconds: 1)).finished
    }
    #expect(try await enter(.hold(conversation: "family"), at: 3) == [])
    #expect(try await enter(.hold(conversation: "friends"), at: 4) == [])
    for _ in 0..<2 { #expect(try await enter(.release(conversation: "family"), at: 5) == [3, 5]) }
    #expect(try await enter(.hold(conversation: "family"), at: 6) == [])
    #expect(try await ledger.servedConversations().map(\.conversation.text).sorted() == ["family", "friends"])
    try ledger.close()
  }
}
