import GRDB
import Messages
import TestSupport
import Testing

@testable import Ledgers

@Suite struct UploadTests: LedgerSuite {
  let fresh: FreshLedger

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
    try await send(messages[0])
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
}
