import Foundation
import GRDB
import Messages
import TestSupport

@testable import Ledgers

/// A deliberate mistake that the model must detect.
enum Mistake: String, CaseIterable {
  case ignoresCancel, ordersByName, doesNotRecover, deletesUploads
}

/// A life of a ledger, derived from a seed: transactions in an order that the daemon may use, with cancels, holds,
/// purges and kills in between.
final class Life {
  private struct Drop {
    let name: String
    let inode: UInt64
    let conversation: String
    let key: String?
    let files: [String]
  }

  private struct Killed: Error {}
  /// The conversation that is being served was purged.
  private struct Stopped: Error {}

  private static let conversations = ["family", "work", "friends"]

  private let ledger: Ledger
  private let mistake: Mistake?
  private var random: SeededRandom
  private var promises = Promises()
  private var now = Timestamp(milliseconds: 1_800_000_000_000)
  /// Faults have ended.
  private var isCalm = false
  private(set) var kills = 0

  // State that survives a kill.
  private var arrivals: [Drop] = []
  private var lastInode: UInt64 = 0
  private var objects: Set<String> = []
  /// Messages on the network by id, each with its object.
  private var visible: [String: String?] = [:]
  /// Objects that the network may know, which must stay.
  private var offered: Set<String> = []
  private var orders: [String] = []
  private var names: [String] = []

  // State that a kill destroys.
  private var keys: [MessageID: String] = [:]

  init(seed: UInt64, ledger: Ledger, mistake: Mistake? = nil) {
    random = SeededRandom(seed: seed)
    self.ledger = ledger
    self.mistake = mistake
  }

  /// - Throws: `Promises.Broken`.
  func run(steps: Int) async throws {
    for _ in 0..<steps {
      do { try await step() } catch is Killed { try await recover() }
      try await checkCounts()
    }
    isCalm = true
    try await finish()
    try await checkEnd()
  }

  private func step() async throws {
    switch random.below(20) {
    case 0..<4: drop()
    case 4..<7: try await accept()
    case 7..<15: try await serve()
    case 15: try await disturb(serving: nil)
    case 16: try await file()
    case 17: try await sweep()
    case 18: throw Killed()
    default: now = now.advanced(seconds: Double(random.below(60)))
    }
  }

  private func pause(serving conversation: String? = nil) async throws {
    if isCalm { return }
    switch random.below(40) {
    case 0: throw Killed()
    case 1, 2: try await disturb(serving: conversation)
    default: break
    }
  }

  private func recover() async throws {
    kills += 1
    keys = [:]
    if mistake != .doesNotRecover { _ = try await ledger.recover(at: now) }
  }

  private func finish() async throws {
    for conversation in Self.conversations {
      _ = try await ledger.setHeld(false, ConversationID(unchecked: conversation), at: now)
    }
    for _ in 0..<2000 {
      if let conversation = orders.first { try await purge(conversation) }
      try await accept()
      try await serve()
      try await file()
      try await sweep()
      if try await ledger.dueConversations(at: now, limit: 1).isEmpty {
        if let next = try await ledger.nextDue(after: now) { now = next } else if try await isIdle() { return }
      }
    }
    throw Promises.Broken(description: "LOST: it does not come to rest")
  }

  private func drop() {
    lastInode += 1
    let photos = random.below(3)
    // Names are independent of the order.
    arrivals.append(
      Drop(
        name: "r\(random.below(90) + 10)", inode: lastInode, conversation: Self.conversations[random.below(3)],
        key: random.below(4) == 0 ? "key-\(random.below(2))" : nil,
        files: (0..<photos).map { "photo-\($0)" } + (photos == 0 || random.below(3) == 0 ? ["text"] : [])))
  }

  private func accept() async throws {
    var batch = Array(arrivals.filter { !orders.contains($0.conversation) }.prefix(4))
    if mistake == .ordersByName { batch.sort { $0.name < $1.name } }
    if batch.isEmpty { return }
    let answers = try await ledger.acceptRenaming(batch.map(request), at: now)
    for (drop, answer) in zip(batch, answers) where !answer.wasKnown {
      names.append(answer.request)
      for (position, file) in drop.files.enumerated() where answer.state == .queued {
        promises.accepted(
          "\(answer.request)/\(drop.inode)/\(file)", to: drop.conversation, place: [Int(drop.inode), position])
      }
    }
    // After a kill before the move, they are found and accepted again.
    try await pause()
    arrivals.removeAll { drop in batch.contains { $0.inode == drop.inode } }
  }

  private func request(_ drop: Drop) -> NewRequest {
    let parts = drop.files.map { file in
      NewRequest.Part(
        message: { MessageID(unchecked: "\($0)/\(drop.inode)/\(file)") }, kind: file == "text" ? .text : .photo,
        file: file, bytes: 5, digest: "\(drop.inode)-\(file)")
    }
    return NewRequest(drop.name, inode: drop.inode, to: drop.conversation, key: drop.key, parts: parts)
  }

  private func file() async throws {
    let requests = try await ledger.unfiled(limit: 4)
    try await pause()
    // Filing moves a directory from its present place.
    arrivals.removeAll { drop in requests.contains { $0.inode == drop.inode } }
    try await ledger.markFiled(requests.map(\.row))
  }

  private func serve() async throws {
    let due = try await ledger.dueConversations(at: now, limit: 3)
    guard !due.isEmpty else { return }
    let window = try await ledger.head(of: due[random.below(due.count)], limit: 5)
    guard let message = window.first, !message.isHeld else { return }
    do {
      try await pause(serving: message.conversation.text)
      if message.isDuplicate {
        _ = try await ledger.decideDuplicate(message, at: now)
      } else if message.kind == .photo, keys[message.message] == nil {
        try await upload(message)
      } else {
        try await publish(message, behind: window.dropFirst().prefix { $0.kind == .text && !$0.isDuplicate })
      }
    } catch is Stopped {}
  }

  private func upload(_ message: QueuedMessage) async throws {
    let conversation = message.conversation.text
    guard try await ledger.beginPreparing(message) else { return }
    try await pause(serving: conversation)
    let photo = PhotoRow.prepared(bytes: 100, path: message.message.text, thumbnailBytes: 10)
    let object = "object-\(random.next())"
    guard
      try await ledger.beginUploading(message, photo: photo, store: "store", object: object, isSealed: true, at: now)
    else {
      return
    }
    try await pause(serving: conversation)
    objects.insert(object)
    let isLost = !isCalm && random.below(6) == 0
    if !isLost, try await ledger.endUploading(message) {
      keys[message.message] = object
    } else {
      try await ledger.abandonUploads(of: [message.message])
      if isLost { try await settle(message, DeliveryError(.network, "it broke"), at: "store") }
    }
  }

  private func publish(_ message: QueuedMessage, behind: ArraySlice<QueuedMessage>) async throws {
    let conversation = message.conversation.text
    let texts = message.kind == .text ? behind.filter { $0.state == .pending }.prefix(random.below(3)) : []
    let run = [message] + texts
    let count =
      try await ledger.end(
        thenBegin: run.map { ($0, nil, Recipient(network: "local", address: $0.conversation.address)) }, at: now
      ).attempts?.count ?? 0
    var begun = run.prefix(mistake == .ignoresCancel ? run.count : count)
    if !begun.isEmpty, let object = keys[message.message] { offered.insert(object) }
    var sent: [(message: QueuedMessage, published: Published)] = []
    var failure: (QueuedMessage, DeliveryError)?
    while failure == nil, let next = begun.first {
      try await pause(serving: conversation)
      begun.removeFirst()
      switch isCalm ? 9 : random.below(10) {
      case 0: failure = (next, DeliveryError(.rejected, "no"))
      case 1: failure = (next, DeliveryError(.unreachable, "it is away"))
      case 2:
        _ = try appear(next)
        failure = (next, DeliveryError(.timeout, "no answer"))
      default: sent.append((next, try appear(next)))
      }
      // The ledger learns of it with the batch.
      if random.below(4) == 0 { break }
    }
    try await pause(serving: conversation)
    _ = try await ledger.end(sent: sent, untried: Array(begun), at: now)
    for (message, _) in sent { keys[message.message] = nil }
    if let (message, error) = failure { try await settle(message, error, at: "network") }
  }

  /// Shows a message to others, once per id.
  private func appear(_ message: QueuedMessage) throws -> Published {
    let id = message.message.text
    if visible[id] == nil {
      let object = message.kind == .photo ? keys[message.message] ?? "none" : nil
      visible[id] = .some(object)
      try promises.appeared(id, object: object, stored: objects)
    }
    let attachment = visible[id]?.map {
      Attachment(
        url: "https://example.org/\($0)", contentDigest: $0, secret: nil, salt: nil, nonce: nil, scheme: "https://",
        contentLength: 1, filename: "photo.jpg", mimeType: "image/jpeg", width: 1, height: 1)
    }
    return Published(at: now, attachment: attachment)
  }

  private func settle(_ message: QueuedMessage, _ error: DeliveryError, at destination: String) async throws {
    let keepsUpload = keys[message.message] != nil
    switch error.cause {
    case .rejected:
      try await ledger.fail(message, step: "publish", error: error, at: now)
      try await discard(keys.keys.filter { $0.text.hasPrefix("\(message.request)/") })
    case .unreachable:
      let later = now.advanced(seconds: 1000)
      try await ledger.park(
        message, for: destination, error: error, until: later, keepsUpload: keepsUpload, at: now)
      try await pause()
      _ = try await ledger.release(waitingFor: destination, at: now)
    default:
      try await ledger.postpone(
        message, step: "publish", error: error, until: now.advanced(seconds: 30), keepsUpload: keepsUpload, at: now)
    }
  }

  private func discard(_ messages: [MessageID]) async throws {
    for message in messages { keys[message] = nil }
    try await ledger.abandonUploads(of: messages)
  }

  private func disturb(serving served: String?) async throws {
    let conversation = Self.conversations[random.below(3)]
    switch random.below(8) {
    case 0..<4:
      guard !names.isEmpty else { return }
      let (_, messages) = try await ledger.cancel(names[random.below(names.count)], at: now)
      for message in messages { promises.banned(message.text, because: "it was cancelled") }
      try await discard(messages)
    case 4..<7:
      _ = try await ledger.setHeld(random.below(2) == 0, ConversationID(unchecked: conversation), at: now)
    default:
      if !orders.contains(conversation) { orders.append(conversation) }
      try await purge(conversation)
      if conversation == served { throw Stopped() }
    }
  }

  private func purge(_ conversation: String) async throws {
    arrivals.removeAll { $0.conversation == conversation }
    if let purged = try await ledger.beginPurge(of: ConversationID(unchecked: conversation), at: now) {
      for message in purged.messages where !promises.hasAppeared(message.text) {
        promises.banned(message.text, because: "it was purged")
      }
      try await discard(purged.messages)
      if !isCalm, random.below(4) == 0 { throw Killed() }
      _ = try await ledger.endPurge(of: purged)
      let left = try await ledger.read { database in
        try ["requests", "messages", "photos"]
          .map {
            try Int.fetchOne(database, sql: "SELECT count(*) FROM \($0) WHERE conversation_id = \(purged.row)") ?? 0
          }
          .reduce(0, +)
      }
      if left > 0 { throw Promises.Broken(description: "GONE: \(left) rows of \(conversation) are left") }
    }
    orders.removeAll { $0 == conversation }
    promises.purged(conversation)
  }

  private func sweep() async throws {
    if mistake == .deletesUploads, let object = objects.min() { return try promises.deleted(object) }
    for upload in try await ledger.claimAbandonedUploads(limit: 2) {
      try await pause()
      objects.remove(upload.object)
      try promises.deleted(upload.object)
      try await ledger.forgetUpload(upload.row)
    }
  }

  private func isIdle() async throws -> Bool {
    guard orders.isEmpty, arrivals.isEmpty else { return false }
    return try await holds(
      """
      NOT EXISTS (SELECT 1 FROM conversations WHERE waiting > 0)
      AND NOT EXISTS (SELECT 1 FROM requests WHERE \(LedgerSchema.unfiled))
      AND NOT EXISTS (SELECT 1 FROM uploads WHERE state IN ('abandoned','deleting'))
      """)
  }

  private func checkCounts() async throws {
    let areRight = try await holds(
      """
      NOT EXISTS (SELECT 1 FROM conversations c WHERE waiting <> (SELECT count(*) FROM messages m
        WHERE m.conversation_id = c.id AND m.draft = 0 AND \(LedgerSchema.waiting(in: "m."))))
      AND (SELECT bytes FROM cache_total) = (SELECT coalesce(sum(cached_bytes + cached_thumbnail_bytes), 0) FROM photos)
      """)
    if !areRight { throw Promises.Broken(description: "the ledger's counts are not what it holds") }
  }

  private func holds(_ condition: String) async throws -> Bool {
    try await ledger.read { try Bool.fetchOne($0, sql: "SELECT \(condition)") ?? false }
  }

  private func checkEnd() async throws {
    let (ends, duplicates, uploads) = try await ledger.read { database in
      (
        try Row.fetchAll(database, sql: "SELECT message, state, cause FROM messages").reduce(into: [:]) {
          (ends: inout [String: (state: String, cause: String?)], row) in
          ends[row["message"]] = (row["state"], row["cause"])
        },
        try Set(String.fetchAll(database, sql: "SELECT request FROM requests WHERE state = 'duplicate'")),
        try Row.fetchAll(database, sql: "SELECT message, object, state FROM uploads").map {
          (message: $0["message"] as String, object: $0["object"] as String, state: $0["state"] as String)
        }
      )
    }
    try promises.check(ends: ends, duplicates: duplicates)
    for upload in uploads where upload.state == "started" && keys[MessageID(unchecked: upload.message)] == nil {
      throw Promises.Broken(description: "nobody has the key of the upload \(upload.object) of \(upload.message)")
    }
    let known = Set(uploads.map(\.object)).union(offered)
    for object in objects.sorted() where !known.contains(object) {
      throw Promises.Broken(description: "the object \(object) is left behind in its store")
    }
  }
}
