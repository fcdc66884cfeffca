import Clusters
import Ledgers
import Messages
import TestSupport
import Testing

/// The ends of requests that share a record, in their owner's ledger.
@Suite struct OwnedRecordTests: LedgerSuite {
  let fresh: FreshLedger

  private func request(_ name: String, acceptedAt: Timestamp? = nil) throws -> RelayedRequest {
    RelayedRequest(
      host: try #require(HostID(String(repeating: "1", count: 32))), request: name, conversation: "family", inbox: "me",
      acceptedAt: (acceptedAt ?? now).milliseconds,
      messages: [
        RelayedRequest.Message(
          message: name, kind: .text, position: 0, file: "text", bytes: 1, digest: "d", text: name,
          mayBePublished: false)
      ])
  }

  /// Enters requests as their owner reads them, in one record.
  @discardableResult
  private func own(_ names: [String], at position: Position = 1) async throws -> (id: RecordID, changes: OwnedChanges) {
    try await own(names.map { try request($0) }, at: position)
  }

  private func own(
    _ requests: [RelayedRequest], at position: Position, isInherited: Bool = false
  ) async throws -> (id: RecordID, changes: OwnedChanges) {
    let id = RecordID(of: requests.map(\.id))
    let record = OwnedRecord(
      id: id, position: position, partition: Partition(of: ConversationID(unchecked: "family")),
      contents: .requests(requests), isInherited: isInherited)
    return (id, try await ledger.own([record], at: now))
  }

  private func order(_ name: String, at position: Position) throws -> OwnedRecord {
    OwnedRecord(
      id: try #require(RecordID(String(repeating: "e", count: 32))), position: position,
      partition: Partition(of: ConversationID(unchecked: "family")),
      contents: .cancel(request: name, id: try request(name).id), isInherited: false)
  }

  /// The names of the requests whose ends are to be told at once.
  private func toTell() async throws -> [String] { try await ledger.unfiled(limit: 10).map(\.droppedAs) }

  @Test("the last end tells the ends of its record")
  func tellsTogether() async throws {
    try await ledger.emptyOwned()
    let (id, _) = try await own(["a", "b", "c"])
    for message in try await head() {
      #expect(try await toTell() == [])
      #expect(try await ledger.ended(id).isEmpty)
      try await send(message)
    }
    #expect(try await toTell() == ["c"])
    #expect(try await ledger.ended(id).map(\.droppedAs) == ["a", "b", "c"])
    try await ledger.forgetOwned([id])
    #expect(try await toTell() == [])
    #expect(try await ledger.ended(id).isEmpty)
  }

  @Test(
    "an end that has waited, by a clock that may be set back, is told alone, and the record ends with the last one",
    arguments: [2.0, -9])
  func tellsAlone(later: Double) async throws {
    try await ledger.emptyOwned()
    let (id, _) = try await own(["a", "b"])
    let messages = try await head()
    try await send(messages[0])
    #expect(try await ledger.tellWaiting(longerThan: 1, at: now))
    #expect(try await toTell() == [])
    #expect(try await !ledger.tellWaiting(longerThan: 1, at: now.advanced(seconds: later)))
    #expect(try await toTell() == ["a"])
    let first = try #require(try await ledger.unfiled(limit: 1).first)
    #expect(try await !ledger.markTold(first.row, of: id))
    #expect(try await toTell() == [])
    try await send(messages[1])
    #expect(try await toTell() == ["b"])
    #expect(try await ledger.ended(id).map(\.filed) == [1, 0])
  }

  @Test("a cancelled end is told at once, and passes the record on to another")
  func tellsCancelled() async throws {
    try await ledger.emptyOwned()
    let (id, _) = try await own(["a", "b"])
    let last = try order("b", at: 2)
    #expect(try await ledger.own([last], at: now).cancelled.map(\.text) == ["b"])
    let cancelled = try #require(try await ledger.unfiled(limit: 1).first)
    #expect(cancelled.droppedAs == "b" && cancelled.state == .cancelled)
    #expect(try await !ledger.markTold(cancelled.row, of: id))
    #expect(try await toTell() == [])
    try await send(try #require(try await head().first))
    #expect(try await toTell() == ["a"])
    #expect(try await ledger.markTold(try #require(try await ledger.unfiled(limit: 1).first).row, of: id))
    #expect(try await ledger.orders(toCancel: id) == [2])
    #expect(try await ledger.ended(id).map(\.state) == [.sent, .cancelled])
  }

  @Test("a request that failed and was retried does not wait for its former record", arguments: [false, true])
  func takesRetried(isInherited: Bool) async throws {
    try await ledger.emptyOwned()
    let (id, _) = try await own(["a", "b"].map { try request($0) }, at: 1, isInherited: isInherited)
    let first = try #require(try await head().first)
    if !isInherited {
      try await ledger.fail(first, step: "publish", error: DeliveryError(.rejected, "it is refused"), at: now)
    }
    // An owner that inherits both does not know that it failed.
    let again = try request("a", acceptedAt: now.advanced(seconds: 1))
    _ = try await own([again], at: 2, isInherited: isInherited)
    #expect(try await head().map(\.message.text) == ["b", "a"])
    #expect(try await head().last?.id == again.id)
    #expect(try await toTell() == ["a"])
    #expect(try await !ledger.markTold(first.requestRow, of: id))
    for message in try await head() { try await send(message) }
    #expect(try await ledger.ended(id).map(\.messages.count) == [0, 1])
    #expect(try await ledger.ended(again.id).map(\.state) == [.sent])
  }

  @Test("a record of a partition that is left is not over")
  func leavesNothing() async throws {
    try await ledger.emptyOwned()
    let (id, _) = try await own(["a", "b"])
    let first = try #require(try await head().first)
    try await send(first)
    _ = try await ledger.disown(Partition(of: ConversationID(unchecked: "family")), [first.conversationRow])
    #expect(try await !ledger.markTold(first.requestRow, of: id))
    #expect(try await ledger.ended(id).isEmpty)
  }

  @Test("a cancelled request does not end the asking for those behind it")
  func asksBehindCancelled() async throws {
    try await ledger.emptyOwned()
    _ = try await own(["a", "b"].map { try request($0) }, at: 1, isInherited: true)
    _ = try await ledger.own([try order("a", at: 2)], at: now)
    let first = try #require(try await head().first)
    _ = try await ledger.startAgain(first, at: now)
    try await ledger.endInheritance(behind: first, at: now)
    #expect(try await head().map(\.state) == [.publishing])
    #expect(try await toTell() == ["a"])
  }

  @Test("a record whose requests all came again in records of their own is over")
  func knowsRelayedAgain() async throws {
    try await ledger.emptyOwned()
    for (number, name) in ["a", "b"].enumerated() { try await own([name], at: Position(number + 1)) }
    #expect(try await own(["a", "b"], at: 3).changes.finished == [3])
    // One that comes a second time is not.
    let (id, _) = try await own(["c", "d"], at: 4)
    #expect(try await own(["c", "d"], at: 4).changes.finished == [])
    #expect(try await head().map(\.message.text) == ["a", "b", "c", "d"])
    #expect(try await head().compactMap(\.record).suffix(2) == [id, id])
  }
}
