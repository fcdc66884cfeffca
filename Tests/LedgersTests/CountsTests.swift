import GRDB
import Messages
import TestSupport
import Testing

@testable import Ledgers

/// The ledger's counts against single rows.
@Suite struct CountsTests: LedgerSuite {
  let fresh: FreshLedger

  private func request(_ number: Int, to conversation: String) -> NewRequest {
    NewRequest("r\(number)", inode: UInt64(number), to: conversation, files: ["photo", "text"])
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

  @Test("The counts equal the counted rows, whatever happens to messages")
  func anything() async throws {
    let photo = PhotoRow.prepared(originalBytes: 1000, bytes: 100)
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
        _ = try await ledger.accept([request(number, to: conversation)], at: now)
      case (3, let message?): _ = try await ledger.beginPreparing(message)
      case (4, let message?):
        let isBegun = try await ledger.beginUploading(
          message, photo: photo, store: "s", object: "o\(round)", isSealed: true, at: now)
        prepared += isBegun ? 1 : 0
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

  @Test("The counts of a failed change are rolled back, and those of the rest of its batch stay")
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
    _ = try await ledger.accept([request(1, to: "family")], at: now)
    let message = try await head()[0]
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
