import GRDB
import Messages
import TestSupport
import Testing

@testable import Ledgers

@Suite struct ProfileTests: LedgerSuite {
  let fresh: FreshLedger
  private let me = InboxID(unchecked: "me")

  /// Accepts a change of the profile photo and returns it from the queue.
  private func change(_ name: String, _ kind: MessageKind = .profile) async throws -> QueuedMessage {
    let part = NewRequest.Part(
      kind == .profile ? "photo" : "kind", kind, message: MessageID(unchecked: name))
    let request = NewRequest(
      name, inode: UInt64(name.utf8.first ?? 0), to: ConversationID.profile(of: me).text, digest: name, parts: [part])
    _ = try await ledger.accept([request], at: now)
    let row = try #require(
      try await ledger.read { try Int64.fetchOne($0, sql: "SELECT max(id) FROM conversations") })
    return try #require(try await head(row).last)
  }

  private func upload(_ message: QueuedMessage, _ object: String) async throws {
    let photo = PhotoRow.prepared(path: "photos/me/profile~me/\(message.message)")
    #expect(try await ledger.beginUploading(message, photo: photo, store: "s", object: object, isSealed: true, at: now))
    #expect(try await ledger.endUploading(message))
  }

  private func publish(
    _ message: QueuedMessage, _ object: String? = nil, on network: String = "local", in place: String? = nil
  ) async throws {
    if let object { try await upload(message, object) }
    let recipient = Recipient(
      network: network, address: place.map(Address.init(unchecked:)) ?? message.conversation.address)
    #expect(try await ledger.beginPublishing(message, on: recipient, at: now) != nil)
    _ = try await ledger.markSent(
      message, Published(at: now, attachment: object.map(attachment), network: network), at: now)
  }

  private func attachment(_ object: String) -> Messages.Attachment {
    Messages.Attachment("https://photos.example/\(object)", contentDigest: object)
  }

  private func deletable() async throws -> [String] { try await ledger.claimAbandonedUploads(limit: 9).map(\.object) }

  @Test("The old object may go with the commit that says that the new photo is set, and not before")
  func order() async throws {
    try await publish(change("a"), "A")
    let second = try await change("b")
    try await upload(second, "B")
    #expect(try await deletable().isEmpty)
    _ = try await ledger.beginPublishing(second, at: now)
    #expect(try await deletable().isEmpty)
    _ = try await ledger.markSent(
      second, Published(at: now, attachment: attachment("B"), network: "local"), at: now)
    #expect(try await deletable() == ["A"])
    let profile = try #require(try LedgerView(in: state).profile(of: me))
    #expect(
      profile.message == second.message && profile.url == "https://photos.example/B" && profile.network == "local")
    try await publish(change("c", .profileRemoval))
    #expect(try await deletable() == ["B"])
    #expect(try LedgerView(in: state).profile(of: me)?.message == nil)
  }

  @Test("An object that receivers may have taken from an interrupted attempt stays until the next change")
  func interrupted() async throws {
    let first = try await change("a")
    try await upload(first, "A1")
    _ = try await ledger.beginPublishing(first, at: now)
    // Killed here: the keys of A1 are lost, and the receiver cannot be asked.
    _ = try await ledger.recover(at: now)
    try await publish(first, "A2")
    #expect(try await deletable().isEmpty)
    try await publish(change("b"), "B")
    #expect(try await deletable() == ["A1", "A2"])
  }

  @Test("A change that fails leaves the old object, and its own goes once it was surely refused")
  func failure() async throws {
    try await publish(change("a"), "A")
    let refused = try await change("b")
    try await upload(refused, "B")
    _ = try await ledger.beginPublishing(refused, at: now)
    let error = DeliveryError(.rejected, "no")
    try await ledger.fail(refused, step: "publish", error: error, at: now)
    #expect(try await deletable() == ["B"])
    var doubtful = try await change("c")
    try await upload(doubtful, "C")
    _ = try await ledger.beginPublishing(doubtful, at: now)
    try await ledger.postpone(
      doubtful, step: "publish", error: DeliveryError(.timeout, "no answer"), until: now, keepsUpload: true, at: now)
    doubtful = try #require(try await ledger.head(of: doubtful.conversationRow, limit: 1).first)
    try await ledger.fail(doubtful, step: "publish", error: error, at: now)
    #expect(try await deletable().isEmpty)
    #expect(try LedgerView(in: state).profile(of: me)?.url == "https://photos.example/A")
    try await publish(change("d"), "D")
    #expect(try await deletable() == ["A", "C"])
  }

  @Test("A change on one network deletes no object that another network shows")
  func otherNetwork() async throws {
    try await publish(change("a"), "A", on: "webhook")
    try await publish(change("b"), "B")
    #expect(try await deletable().isEmpty)
    try await publish(change("c"), "C")
    #expect(try await deletable() == ["B"])
  }

  @Test("A change in one group deletes no object that another group shows")
  func otherPlace() async throws {
    try await publish(change("a"), "A", on: "xmtp", in: "group:01")
    try await publish(change("b"), "B", on: "xmtp", in: "group:02")
    #expect(try await deletable().isEmpty)
    try await publish(change("c"), "C", on: "xmtp", in: "group:02")
    #expect(try await deletable() == ["B"])
    try await publish(change("d", .profileRemoval), on: "xmtp", in: "group:02")
    #expect(try await deletable() == ["C"])
  }

  @Test("An object that another group may show stays until that group has a new one")
  func doubtInAnotherPlace() async throws {
    try await publish(change("a"), "A", on: "xmtp", in: "group:01")
    let doubtful = try await change("b")
    try await upload(doubtful, "B")
    let other = Recipient(network: "xmtp", address: Address(unchecked: "group:02"))
    #expect(try await ledger.beginPublishing(doubtful, on: other, at: now) != nil)
    try await ledger.postpone(
      doubtful, step: "publish", error: DeliveryError(.timeout, "no answer"), until: now, keepsUpload: true, at: now)
    let again = try #require(try await ledger.head(of: doubtful.conversationRow, limit: 1).first)
    #expect(again.offeredTo == other)
    try await ledger.fail(again, step: "publish", error: DeliveryError(.expired, "too old"), at: now)
    try await publish(change("c"), "C", on: "xmtp", in: "group:01")
    #expect(try await deletable() == ["A"])
    try await publish(change("d"), "D", on: "xmtp", in: "group:02")
    #expect(try await deletable() == ["B"])
  }

  @Test("The object stays known after its request is forgotten, and its copy stays in the cache")
  func forgotten() async throws {
    let first = try await change("a")
    try await publish(first, "A")
    let later = now.advanced(seconds: 1)
    try await ledger.markFiled([first.requestRow])
    let filed = try await ledger.filedRequests(in: [.sent], before: later, limit: 9)
    try await ledger.forgetFiled(filed)
    #expect(filed.count == 1)
    #expect(try await ledger.supersededProfilePhotos().isEmpty)
    let pinned = try await ledger.read { try Int.fetchOne($0, sql: "SELECT pinned FROM photos") }
    #expect(pinned == 1)
    try await publish(change("b"), "B")
    #expect(try await deletable() == ["A"])
    let superseded = try await ledger.supersededProfilePhotos()
    #expect(superseded.map(\.message) == [first.message])
    for photo in superseded { try await ledger.forgetSupersededProfilePhoto(photo) }
    #expect(try await ledger.supersededProfilePhotos().isEmpty)
  }

  @Test("The profile of an inbox has a name that no conversation can have, and is shown with one that can be read")
  func name() async throws {
    let message = try await change("a")
    #expect(throws: IdentifierError.self) { try ConversationID(message.conversation.text) }
    #expect(message.conversation.isProfile && message.conversation.inboxOfProfile == me)
    var shown = [String]()
    try LedgerView(in: state).forEachLine { shown.append("\($0.conversation ?? "") \($0.kind?.rawValue ?? "")") }
    #expect(shown == ["profile~me profile"])
  }
}
