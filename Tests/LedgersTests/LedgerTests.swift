import Foundation
import GRDB
import Messages
import Synchronization
import TestSupport
import Testing

@testable import Ledgers

@Suite struct LedgerTests: LedgerSuite {
  let fresh: FreshLedger

  @discardableResult
  private func accept(_ requests: NewRequest...) async throws -> [Acceptance] {
    try await ledger.acceptRenaming(requests, at: now)
  }

  private func publish(_ message: QueuedMessage) async throws -> RequestState? {
    _ = try await ledger.beginPublishing(message, at: now)
    return try await ledger.markSent(message, Published(at: now), at: now)
  }

  @Test func aCommitSurvivesAPowerCutBySettings() async throws {
    let settings = try await ledger.write { database in
      try ["journal_mode", "synchronous", "secure_delete"].map {
        try String.fetchOne(database, sql: "PRAGMA \($0)")
      }
    }
    #expect(settings == ["wal", "2", "1"])
  }

  @Test func nothingIsSetAsideInFilesOutsideTheSpool() async throws {
    let inMemory = "2"
    let writer = try await ledger.write { try String.fetchOne($0, sql: "PRAGMA temp_store") }
    let reader = try await ledger.read { try String.fetchOne($0, sql: "PRAGMA temp_store") }
    #expect([writer, reader] == [inMemory, inMemory])
  }

  @Test func oneFailingChangeTakesNoOtherWithIt() async throws {
    let ledger = ledger
    await withTaskGroup(of: Void.self) { group in
      for number in 0..<200 {
        group.addTask {
          try? await ledger.write { database in
            try database.execute(sql: "INSERT INTO conversations (conversation) VALUES (?)", arguments: ["\(number)"])
            if number.isMultiple(of: 3) { throw DeliveryError(.conflict, "no") }
          }
        }
      }
    }
    let count = try await ledger.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM conversations") }
    #expect(count == 200 - 67)
  }

  @Test func aNewerLedgerIsRefused() async throws {
    try await ledger.write { try $0.execute(sql: "INSERT INTO grdb_migrations VALUES ('v999 from the future')") }
    try ledger.close()
    #expect { try Ledger(in: state) } throws: { "\($0)".contains("newer photospool") }
  }

  @Test func upgradeNeedsTheLedgerAlone() async throws {
    try await ledger.write {
      let earlier = "v16 requests that stay where they are, owners of drafts"
      try $0.execute(sql: "UPDATE grdb_migrations SET identifier = ?", arguments: [earlier])
    }
    try ledger.close()
    #expect { try Ledger(in: state, isOwn: false) } throws: { "\($0)".contains("an earlier photospool") }
    try Ledger(in: state).close()
    try Ledger(in: state, isOwn: false).close()
  }

  @Test func aDamagedLedgerIsRefusedAndNotReplaced() throws {
    try ledger.close()
    let path = state.path(of: Ledger.fileName)
    try Data(repeating: 7, count: 10_000).write(to: URL(fileURLWithPath: path))
    #expect { try Ledger(in: state) } throws: { "\($0)".contains("is damaged") }
    #expect(try Data(contentsOf: URL(fileURLWithPath: path)).count == 10_000)
  }

  @Test func damageFoundInTheBackgroundIsReportedAndStopsWrites() async throws {
    for number in 0..<500 { try await accept(NewRequest("r\(number)", inode: UInt64(number + 1))) }
    try ledger.close()
    let path = state.path(of: Ledger.fileName)
    var bytes = try Data(contentsOf: URL(fileURLWithPath: path))
    let middle = bytes.count / 8192 * 4096
    bytes.replaceSubrange(middle..<middle + 4096, with: Data(count: 4096))
    try bytes.write(to: URL(fileURLWithPath: path))
    let damaged = try Ledger(in: state)
    let told = Mutex<[String]>([])
    damaged.onFailure { error in told.withLock { $0.append("\(error)") } }
    await #expect { try await damaged.checkIntegrity() } throws: { "\($0)".contains("is damaged") }
    #expect(told.withLock { $0 }.count == 1)
    await #expect { try await damaged.write { _ in } } throws: { "\($0)".contains("is damaged") }
  }

  @Test func namesThatNoRequestHasAreCounted() async throws {
    try await accept(NewRequest("a", inode: 1), NewRequest("b", inode: 2))
    let unknown = try await ledger.unknownRequests { ask in
      try ask(["z.1", "a"])
      try ask(["b", "k-1_2", "y"])
    }
    #expect(unknown.count == 3)
    #expect(unknown.first == "k-1_2")
    #expect(try await ledger.unknownRequests { try $0(["b", "a"]) }.first == nil)
  }

  @Test func messagesWaitInOrderOfAcceptance() async throws {
    try await accept(NewRequest("b", inode: 1, files: ["photo-1", "photo-2", "text"]), NewRequest("a", inode: 2))
    #expect(try await head().map { "\($0.request)/\($0.file)" } == ["b/photo-1", "b/photo-2", "b/text", "a/text"])
    #expect(try await ledger.dueConversations(at: now, limit: 9) == [1])
  }

  @Test func takenNameFailsItsWholeBatch() async throws {
    try await accept(NewRequest("a", inode: 1))
    await #expect {
      try await ledger.accept(
        [NewRequest("b", inode: 2), NewRequest("a", inode: 3), NewRequest("b", inode: 4)], at: now)
    } throws: {
      ($0 as? NamesTaken)?.indices == [1, 2]
    }
    #expect(try await head().map(\.request) == ["a"])
    #expect(try await ledger.counts().accepted == 1)
  }

  @Test func aTakenNameGetsAnAlternative() async throws {
    let names = try await accept(NewRequest("a", inode: 1), NewRequest("a", inode: 2), NewRequest("a", inode: 3)).map(
      \.request)
    #expect(names == ["a", "a.2", "a.3"])
  }

  @Test func theSameKeyIsSentOnceAndOtherContentsAreRefused() async throws {
    let accepted = try await accept(
      NewRequest("a", inode: 1, key: "k"), NewRequest("b", inode: 2, key: "k"),
      NewRequest("c", inode: 3, key: "k", digest: "x"))
    #expect(accepted.map(\.state) == [.queued, .queued, .failed])
    #expect(accepted[2].error?.contains("used by request a with other contents") == true)
    #expect(try await publish(head()[0]) == .sent)
    #expect(try await head().isEmpty)
    #expect(try await accept(NewRequest("d", inode: 4, key: "k")).map(\.state) == [.duplicate])
  }

  @Test func aFailedRequestDoesNotHoldItsKey() async throws {
    try await accept(NewRequest("a", inode: 1, key: "k"))
    try await ledger.fail(head()[0], step: "publish", error: DeliveryError(.rejected, "no"), at: now)
    #expect(try await accept(NewRequest("b", inode: 2, key: "k")).map(\.state) == [.queued])
  }

  @Test func anInterruptedTakeOverIsKnownAgain() async throws {
    try await accept(NewRequest("a", inode: 1))
    let again = try await accept(NewRequest("a", inode: 1))
    #expect(again.map(\.wasKnown) == [true] && again[0].request == "a")
    #expect(try await head().count == 1)
  }

  @Test("A request that was read before it was sent and filed is not accepted a second time", arguments: [true, false])
  func readBeforeItWasFiled(isSent: Bool) async throws {
    try await accept(NewRequest("a", inode: 1))
    if isSent {
      _ = try await publish(head()[0])
    } else {
      try await ledger.fail(head()[0], step: "publish", error: DeliveryError(.rejected, "no"), at: now)
    }
    try await ledger.markFiled(ledger.unfiled(limit: 9).map(\.row))
    let again = try await ledger.accept([NewRequest("a", inode: 1)], at: now, isStillThere: { _ in false })
    #expect(again.map(\.wasKnown) == [true] && again[0].request == "a")
    #expect(try await head().isEmpty)
  }

  @Test func retrySendsOnlyTheUnsentMessages() async throws {
    try await accept(NewRequest("a", inode: 1, files: ["photo-1", "photo-2", "text"]))
    _ = try await publish(head()[0])
    try await ledger.fail(head()[0], step: "prepare", error: DeliveryError(.truncatedImage, "cut"), at: now)
    #expect(try await head().isEmpty)
    let unfiled = try await ledger.unfiled(limit: 9)
    #expect(unfiled.map(\.state) == [.failed] && unfiled[0].messages.map(\.own.state) == [.sent, .failed, .cancelled])
    try await ledger.markFiled(unfiled.map(\.row))
    try await accept(
      NewRequest("z", inode: 2), NewRequest("a", inode: 1, files: ["photo-1", "photo-2", "text"]),
      NewRequest("y", inode: 3),
      NewRequest("friend", inode: 4, to: "friends"))
    #expect(try await head().map { "\($0.request)/\($0.file)" } == ["z/text", "a/photo-2", "a/text", "y/text"])
    let waiting = try await ledger.read { database in
      try Int.fetchAll(database, sql: "SELECT waiting FROM conversations ORDER BY id")
    }
    #expect(waiting == [4, 1])
    #expect(try await ledger.dueConversations(at: now, limit: 9).count == 2)
  }

  /// As `request`, on a filesystem without times of birth.
  private func unborn(_ request: NewRequest, error: String? = nil) -> NewRequest {
    var unborn = NewRequest(
      droppedAs: request.droppedAs, inode: request.inode, born: 0, inbox: request.inbox, contents: request.contents)
    unborn.isMarked = { $0 == error }
    return unborn
  }

  /// The first photo is published; the second one fails the request, which is filed.
  private func failSecondPhoto(of request: NewRequest) async throws {
    try await accept(request)
    _ = try await publish(head()[0])
    try await ledger.fail(head()[0], step: "prepare", error: DeliveryError(.truncatedImage, "cut"), at: now)
    try await ledger.markFiled(ledger.unfiled(limit: 9).map(\.row))
  }

  @Test func reusedInodeRevivesNoFailedRequest() async throws {
    try await failSecondPhoto(of: unborn(NewRequest("a", inode: 1, files: ["photo-1", "photo-2"])))
    let other = NewRequest("b", inode: 1, to: "friends", files: ["photo-1", "text"])
    #expect(try await accept(unborn(other)).map(\.request) == ["b"])
    #expect(try await head(2).map(\.file) == ["photo-1", "text"])
  }

  @Test func failedRequestWithoutABirthTimeIsKnownByItsError() async throws {
    try await failSecondPhoto(of: unborn(NewRequest("a", inode: 1, files: ["photo-1", "photo-2"])))
    try await accept(unborn(NewRequest("c", inode: 1, files: ["photo-1", "photo-2"]), error: "photo-2: cut"))
    #expect(try await head().map { "\($0.request)/\($0.file)" } == ["a/photo-2"])
  }

  @Test func reusedInodeIsNoInterruptedTakeOver() async throws {
    try await accept(unborn(NewRequest("a", inode: 1)))
    #expect(try await accept(unborn(NewRequest("a", inode: 1))).map(\.wasKnown) == [true])
    let others = try await accept(unborn(NewRequest("b", inode: 1)), unborn(NewRequest("a", inode: 1, digest: "e")))
    #expect(others.map(\.wasKnown) == [false, false])
    #expect(others.map(\.request) == ["b", "a.2"])
  }

  @Test func theLastMessageEndsItsRequest() async throws {
    try await accept(NewRequest("a", inode: 1, files: ["photo", "text"]))
    #expect(try await publish(head()[0]) == nil)
    #expect(try await publish(head()[0]) == .sent)
    #expect(try await ledger.dueConversations(at: now, limit: 9).isEmpty)
    #expect(try await ledger.unfiled(limit: 9).map(\.request) == ["a"])
  }

  @Test func cancelAndPublishExcludeEachOther() async throws {
    try await accept(NewRequest("a", inode: 1, files: ["photo", "text"]))
    let (photo, text) = (try await head()[0], try await head()[1])
    #expect(try await ledger.beginPublishing(photo, at: now) == 1)
    let (outcome, messages) = try await ledger.cancel("a", at: now)
    #expect(outcome == .partly(published: ["photo"]) && messages == [text.message])
    #expect(try await ledger.beginPublishing(text, at: now) == nil)
    #expect(try await ledger.markSent(photo, Published(at: now), at: now) == .cancelled)
    #expect(try await ledger.cancel("a", at: now).0 == .tooLate(.cancelled))
    #expect(try await ledger.cancel("b", at: now).0 == .unknown)
  }

  @Test func aPostponedConversationIsDueAgainLaterOrAfterAFlush() async throws {
    try await accept(NewRequest("a", inode: 1))
    _ = try await ledger.beginPublishing(head()[0], at: now)
    let later = now.advanced(seconds: 60)
    try await ledger.postpone(
      head()[0], step: "publish", error: DeliveryError(.timeout, "slow"), until: later, keepsUpload: false, at: now)
    #expect(try await ledger.dueConversations(at: now, limit: 9).isEmpty)
    #expect(try await ledger.nextDue(after: now) == later)
    #expect(try await ledger.dueConversations(at: later, limit: 9) == [1])
    #expect(try await ledger.flush(at: now) == 1)
    #expect(try await ledger.dueConversations(at: now, limit: 9) == [1])
    #expect(try await head()[0].attempts == 1)
  }

  @Test func parkedConversationWaitsWithoutCountingItsAttempt() async throws {
    try await accept(NewRequest("a", inode: 1), NewRequest("b", inode: 2, to: "work"))
    let expiry = now.advanced(seconds: 432_000)
    let away = DeliveryError(.unreachable, "there is no route")
    for conversation: Int64 in [1, 2] {
      let message = try await head(conversation)[0]
      _ = try await ledger.beginPublishing(message, at: now)
      try await ledger.park(message, for: "matrix", error: away, until: expiry, keepsUpload: false, at: now)
    }
    #expect(try await ledger.dueConversations(at: now, limit: 9).isEmpty)
    #expect(try await ledger.nextDue(after: now) == expiry)
    let parked = try await head()[0]
    #expect(parked.attempts == 0 && parked.firstTriedAt == nil && parked.state == .pending)
    #expect(try await !ledger.releaseOne(waitingFor: "webhook", at: now))
    #expect(try await ledger.releaseOne(waitingFor: "matrix", at: now))
    #expect(try await ledger.dueConversations(at: now, limit: 9).count == 1)
    #expect(try await ledger.release(waitingFor: "matrix", at: now) == 1)
    #expect(try await ledger.dueConversations(at: now, limit: 9).count == 2)
  }

  @Test func interruptedAttemptIsRememberedWhenItsMessageIsParked() async throws {
    try await accept(NewRequest("a", inode: 1))
    _ = try await ledger.beginPublishing(head()[0], at: now)
    _ = try await ledger.recover(at: now)
    let found = try await head()[0]
    #expect(found.state == .publishing)
    let later = now.advanced(seconds: 90)
    try await ledger.park(
      found, for: "matrix", error: DeliveryError(.unreachable, "there is no route"), until: later, keepsUpload: false,
      at: later)
    let parked = try await head()[0]
    #expect(parked.attempts == 1 && parked.firstTriedAt == now)
  }

  @Test func clockSetBackStallsNobody() async throws {
    try await accept(NewRequest("a", inode: 1))
    let past = now.advanced(seconds: -400 * 86_400)
    #expect(try await ledger.dueConversations(at: past, limit: 9).isEmpty)
    try await ledger.clampDue(to: past)
    #expect(try await ledger.dueConversations(at: past, limit: 9) == [1])
  }

  @Test func clockSetBackByAnHourStallsNobodyAfterARestart() async throws {
    try await accept(NewRequest("a", inode: 1))
    let past = now.advanced(seconds: -3600)
    _ = try await ledger.recover(at: past)
    #expect(try await ledger.dueConversations(at: past, limit: 9) == [1])
  }

  @Test func aHeldConversationIsNotDue() async throws {
    try await accept(NewRequest("a", inode: 1))
    let family = ConversationID(unchecked: "family")
    #expect(try await ledger.setHeld(true, family, at: now))
    #expect(try await !ledger.setHeld(true, family, at: now))
    #expect(try await ledger.dueConversations(at: now, limit: 9).isEmpty)
    #expect(try await ledger.setHeld(false, family, at: now))
    #expect(try await ledger.dueConversations(at: now, limit: 9) == [1])
  }

  private func upload(_ message: QueuedMessage, as object: String, isSealed: Bool = true) async throws {
    let isBegun = try await ledger.beginUploading(
      message, photo: .prepared(), store: "directory", object: object, isSealed: isSealed, at: now)
    #expect(isBegun)
  }

  @Test func aCrashAbandonsUploadsThatWereNotOffered() async throws {
    try await accept(NewRequest("a", inode: 1, files: ["photo-1", "photo-2"]))
    let messages = try await head()
    for message in messages {
      try await upload(message, as: message.file)
      #expect(try await ledger.endUploading(message))
    }
    _ = try await ledger.beginPublishing(messages[0], at: now)
    #expect(try await ledger.recover(at: now) == 1)
    #expect(try await head().map(\.state) == [.publishing, .pending])
    #expect(try await ledger.claimAbandonedUploads(limit: 9).map(\.object) == ["photo-2"])
    // After a crash before the deletion it is abandoned again.
    #expect(try await ledger.claimAbandonedUploads(limit: 9).isEmpty)
    _ = try await ledger.recover(at: now)
    #expect(try await ledger.claimAbandonedUploads(limit: 9).map(\.object) == ["photo-2"])
  }

  @Test func anObjectThatAnotherMessageRefersToIsNeverDeleted() async throws {
    try await accept(NewRequest("a", inode: 1, files: ["photo-1", "photo-2"]))
    let messages = try await head()
    for message in messages { try await upload(message, as: "same") }
    try await ledger.abandonUploads(of: [messages[0].message])
    #expect(try await ledger.claimAbandonedUploads(limit: 9).isEmpty)
    try await ledger.abandonUploads(of: [messages[1].message])
    #expect(try await ledger.claimAbandonedUploads(limit: 9).map(\.object) == ["same"])
    await #expect(throws: DeliveryError.self) { try await upload(messages[0], as: "same") }
  }

  @Test func sharedObjectOutlivesTheRequestThatPublishedIt() async throws {
    try await accept(NewRequest("a", inode: 1, files: ["photo"]), NewRequest("b", inode: 2, files: ["photo"]))
    var messages = try await head()
    for message in messages { try await upload(message, as: "photos/x.jpg", isSealed: false) }
    _ = try await publish(messages[0])
    // Nothing is left of the photo when its request is forgotten.
    try await ledger.write { try $0.execute(sql: "DELETE FROM photos") }
    try await ledger.markFiled([messages[0].requestRow])
    try await ledger.forgetFiled(ledger.filedRequests(in: [.sent], before: now.advanced(seconds: 1), limit: 9))
    messages = try await head()
    #expect(messages.count == 1)
    try await ledger.abandonUploads(of: [messages[0].message])
    #expect(try await ledger.claimAbandonedUploads(limit: 9).isEmpty)
  }

  @Test func secondUploadOfAPublishedMessageIsAbandoned() async throws {
    try await accept(NewRequest("a", inode: 1, files: ["photo-1"]))
    for object in ["published", "again"] {
      try await upload(head()[0], as: object)
      _ = try await ledger.endUploading(head()[0])
      guard object == "published" else { continue }
      _ = try await ledger.beginPublishing(head()[0], reserved: "id", at: now)
      let error = DeliveryError(.network, "the connection was lost")
      try await ledger.postpone(head()[0], step: "publish", error: error, until: now, keepsUpload: false, at: now)
    }
    let attachment = Messages.Attachment("https://photos.example/published")
    _ = try await ledger.markSent(head()[0], Published(at: now, remote: "id", attachment: attachment), at: now)
    #expect(try await ledger.claimAbandonedUploads(limit: 9).map(\.object) == ["again"])
  }

  @Test func toolsReadBesideTheWriterAndWithoutIt() async throws {
    try await accept(NewRequest("a", inode: 1, files: ["photo", "text"]), NewRequest("b", inode: 2, to: "friends"))
    func lines() throws -> [String] {
      var lines = [String]()
      try LedgerView(in: state).forEachLine {
        lines.append("\($0.request) \($0.conversation ?? "") \($0.kind?.rawValue ?? "")")
      }
      return lines
    }
    let expected = ["a family photo", "a family text", "b friends text"]
    #expect(try lines() == expected)
    try ledger.close()
    #expect(try lines() == expected)
    let view = try LedgerView(in: state)
    #expect(try view.story(of: "a")?.messages.map(\.file) == ["photo", "text"])
    #expect(try view.request("nobody") == nil)
    let shape = try view.shape(minutes: [5, 10], at: now.advanced(seconds: 400))
    #expect(shape.map(\.conversation) == ["family", "friends"] && shape[0].counts == [0, 2, 0])
  }
}
