import DurableFiles
import GRDB
import Messages
import TestSupport
import Testing

@testable import Ledgers

/// The ledger's counts against single rows.
@Suite struct CountsTests {
  private let scratch: TemporaryDirectory
  private let ledger: Ledger
  private let now = Timestamp(milliseconds: 1_800_000_000_000)

  init() throws {
    scratch = try TemporaryDirectory()
    ledger = try Ledger(in: Directory(path: scratch.path))
  }

  private func request(_ number: Int, to conversation: String, files: [String] = ["photo", "text"]) -> NewRequest {
    let parts = files.map { file in
      NewRequest.Part(
        message: { MessageID(unchecked: "\($0)/\(file)") }, kind: file == "text" ? .text : .photo, file: file, bytes: 5,
        digest: "f")
    }
    return NewRequest(
      droppedAs: "r\(number)", inode: UInt64(number), born: 1, inbox: InboxID(unchecked: "me"),
      contents: .success(
        NewRequest.Contents(
          conversation: ConversationID(unchecked: conversation), key: nil, digest: "d", parts: parts)))
  }

  private func accept(_ requests: [NewRequest]) async throws {
    _ = try await ledger.accept(requests, at: now)
  }

  private func expectTruth(_ place: String) async throws {
    let counts = try await ledger.counts()
    let (states, conversations, held, parked, drafts, oldest) = try await ledger.read { database in
      (
        try String.fetchAll(database, sql: "SELECT state FROM messages WHERE draft = 0"),
        try Int.fetchOne(database, sql: "SELECT count(*) FROM conversations WHERE waiting > 0"),
        try Int.fetchOne(database, sql: "SELECT count(*) FROM conversations WHERE waiting > 0 AND held"),
        try Int.fetchOne(database, sql: "SELECT count(*) FROM conversations WHERE waiting > 0 AND waits_for NOT NULL"),
        try Int.fetchOne(database, sql: "SELECT count(*) FROM requests WHERE state = 'draft'"),
        try Int64.fetchOne(database, sql: "SELECT min(accepted_at) FROM requests WHERE state = 'queued'")
      )
    }
    for state in MessageState.allCases where !state.isFinal {
      #expect(counts.waiting[state] == states.count { $0 == state.rawValue }, "\(state) \(place)")
    }
    #expect(counts.conversations == conversations, "\(place)")
    #expect(counts.heldConversations == held, "\(place)")
    #expect(counts.parkedConversations == parked, "\(place)")
    #expect(counts.drafts == drafts, "\(place)")
    #expect(counts.oldest?.milliseconds == oldest, "\(place)")
  }

  /// Compares totals of finished requests with the rows, none of which was deleted.
  private func expectTotals() async throws {
    let counts = try await ledger.counts()
    let (requests, kinds, last) = try await ledger.read { database in
      (
        try String.fetchAll(database, sql: "SELECT state FROM requests"),
        try String.fetchAll(database, sql: "SELECT kind FROM messages WHERE state = 'sent'"),
        try Int64.fetchOne(database, sql: "SELECT max(sent_at) FROM messages")
      )
    }
    for (state, count) in counts.ended { #expect(count == requests.count { $0 == state.rawValue }, "\(state)") }
    for (kind, count) in counts.sent { #expect(count == kinds.count { $0 == kind.rawValue }, "\(kind)") }
    #expect(counts.lastSent?.milliseconds == last)
  }

  @Test("Whatever happens to messages, the counts are what counting finds")
  func anything() async throws {
    let photo = PhotoRow(
      format: "jpeg", originalBytes: 1000, originalWidth: 1, originalHeight: 1, bytes: 100, width: 1, height: 1,
      digest: "x", path: "p", thumbnailBytes: 1)
    var random = SystemRandomNumberGenerator()
    var number = 0
    var (sent, setbacks, prepared) = (0, 0, 0)
    for round in 0..<150 {
      let conversation = "c\(Int.random(in: 0..<5, using: &random))"
      let row = try await ledger.read {
        try Int64.fetchOne($0, sql: "SELECT id FROM conversations WHERE conversation = ?", arguments: [conversation])
      }
      let message = if let row { try await ledger.head(of: row, limit: 1).first } else { QueuedMessage?.none }
      let error = DeliveryError(.unreachable, "no route")
      switch (Int.random(in: 0..<12, using: &random), message) {
      case (0...2, _), (_, nil):
        number += 1
        try await accept([request(number, to: conversation)])
      case (3, let message?): _ = try await ledger.beginPreparing(message)
      case (4, let message?):
        if try await ledger.beginUploading(
          message, photo: photo, store: "s", object: "o\(round)", isSealed: true, at: now)
        {
          prepared += 1
        }
      case (5, let message?): _ = try await ledger.endUploading(message)
      case (6, let message?):
        _ = try await ledger.beginPublishing(message, at: now)
        _ = try await ledger.markSent(message, Published(at: now), at: now)
        sent += 1
      case (7, let message?):
        try await ledger.fail(message, step: "publish", error: error, at: now)
        setbacks += 1
      case (8, let message?):
        try await ledger.park(message, for: "net", error: error, until: now, keepsUpload: false, at: now)
        setbacks += 1
      case (9, let message?):
        try await ledger.postpone(message, step: "publish", error: error, until: now, keepsUpload: true, at: now)
        setbacks += 1
      case (10, let message?):
        _ = try await ledger.setHeld(.random(using: &random), message.conversation, at: now)
        _ = try await ledger.releaseOne(waitingFor: "net", at: now)
      case (_, let message?):
        if round.isMultiple(of: 2) {
          _ = try await ledger.cancel(message.request, at: now)
        } else {
          _ = try await ledger.recover(at: now)
        }
      }
      try await expectTruth("in round \(round)")
    }
    let counts = try await ledger.counts()
    #expect(counts.accepted == number)
    #expect(counts.lastSent == (sent > 0 ? now : nil))
    #expect(counts.setbacks == (setbacks > 0 ? [.unreachable: setbacks] : [:]))
    #expect(counts.preparedPhotos == prepared && counts.preparedBytes == 100 * prepared)
    #expect(counts.originalBytes == 1000 * prepared)
    try await expectTotals()
    _ = try await ledger.beginPurge(of: ConversationID(unchecked: "c1"), at: now)
    try await expectTruth("after a purge began")
    try await expectTotals()
  }

  @Test("What a change has counted that failed goes with it, and what its fellows have counted stays")
  func failedChanges() async throws {
    let ledger = ledger
    await withTaskGroup(of: Void.self) { group in
      for number in 1...60 {
        group.addTask {
          try? await ledger.write { database in
            let request = request(number, to: "c")
            var acceptor = Acceptor(database: database, now: now)
            _ = try acceptor.accept(request)
            try acceptor.countWaiting()
            if number.isMultiple(of: 3) { throw DeliveryError(.conflict, "no") }
          }
        }
      }
    }
    try await expectTruth("after a third of the changes failed")
    #expect(try await ledger.counts().accepted == 40)
  }

  @Test("A conversation that was held while it waited for a destination is due once it is flushed and released")
  func heldAndParked() async throws {
    try await accept([request(1, to: "family")])
    let message = try #require(try await ledger.head(of: 1, limit: 1).first)
    let error = DeliveryError(.unreachable, "no route")
    let expiry = now.advanced(seconds: 86_400)
    try await ledger.park(message, for: "net", error: error, until: expiry, keepsUpload: false, at: now)
    _ = try await ledger.setHeld(true, message.conversation, at: now)
    #expect(try await ledger.flush(at: now) == 0)
    #expect(try await ledger.dueConversations(at: now, limit: 9).isEmpty)
    _ = try await ledger.setHeld(false, message.conversation, at: now)
    #expect(try await ledger.dueConversations(at: now, limit: 9) == [1])
    try await expectTruth("at the end")
  }
}
