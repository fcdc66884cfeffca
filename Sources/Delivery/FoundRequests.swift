import DurableFiles
import Foundation
import Ledgers
import Messages
import Spooling

/// The requests that the spool tells of, without its ledger: receipts, failed requests, then what waits in `cur/`, in the
/// order of its acceptance.
struct FoundRequests {
  private(set) var all: [FoundRequest] = []
  /// What receipts tell of photos that were sent.
  private(set) var receipts: [MessageID: Receipt.Message] = [:]
  private(set) var unreadable = 0

  private let spool: Spool
  private let inbox: InboxID

  private static let receiptBytes = 1 << 20
  private static let errorBytes = 4096

  init(in spool: Spool, inbox: InboxID, canBeAsked: (ConversationID) -> Bool) throws {
    self.spool = spool
    self.inbox = inbox
    for name in try spool.sent.requestNames() { try take(sent: name) }
    try finishFiling()
    var waiting = [(name: String, entry: Entry, request: Result<Request, Refusal>)]()
    for name in try spool.failed.requestNames() {
      // What is no directory, or had no good name, has no row either.
      guard try spool.failed.entry("\(name)/entry") == nil, let entry = try spool.failed.entry(name) else { continue }
      waiting.append((name, entry, try read(name, in: spool.failed)))
    }
    let failedCount = waiting.count
    let scan = try ArrivalScan(spool.cur)
    for index in 0..<scan.count {
      let name = scan[index].name
      guard RequestName(name) != nil, let entry = try spool.cur.entry(name), entry.kind == .directory else { continue }
      waiting.append((name, entry, try read(name, in: spool.cur)))
    }
    let published = try PublishedMessages(
      in: spool,
      among: Set(
        waiting.flatMap { name, entry, request in
          (try? request.get().parts.map { RequestIdentity(entry).message($0.file, of: name) }) ?? []
        }))
    for (index, (name, entry, request)) in waiting.enumerated() {
      let isFailed = index < failedCount
      all.append(
        FoundRequest(
          name, entry, request, inbox: inbox, error: isFailed ? try error(of: name) : nil, published: published,
          canBeAsked: canBeAsked))
    }
  }

  private mutating func take(sent name: String) throws {
    guard let entry = try spool.sent.entry(name), entry.kind == .directory else { return }
    guard let receipt = try receipt(in: spool.sent.directory(name)),
      let request = FoundRequest(receipt, name: name, entry: entry)
    else {
      unreadable += 1
      return
    }
    all.append(request)
    for message in receipt.messages where message.kind.hasPhoto {
      receipts[MessageID(unchecked: message.message)] = message
    }
  }

  private func receipt(in directory: Directory) throws -> Receipt? {
    guard try directory.entry(Receipt.fileName)?.kind == .file else { return nil }
    return try directory.file(Receipt.fileName).contents(limit: Self.receiptBytes).flatMap(Receipt.init)
  }

  /// A receipt in `cur/` tells that the request was over; what was cut off is done to the end here.
  private mutating func finishFiling() throws {
    for name in try spool.cur.requestNames() {
      let directory = try spool.cur.directory(name)
      guard try receipt(in: directory) != nil else { continue }
      for file in try directory.names() where file != Receipt.fileName { try directory.removeTree(file) }
      try directory.sync()
      guard try spool.cur.move(name, to: spool.sent, as: name) else { continue }
      try spool.sent.sync()
      try spool.cur.sync()
      try take(sent: name)
    }
  }

  private func read(_ name: String, in place: Directory) throws -> Result<Request, Refusal> {
    do { return .success(try RequestReader(place.directory(name)).request) } catch let refusal as Refusal {
      return .failure(refusal)
    } catch let error as FileError where !error.isPassing {
      return .failure(.unreadable(error.description))
    }
  }

  private func error(of name: String) throws -> String {
    let directory = try spool.failed.directory(name)
    guard try directory.entry("error")?.kind == .file,
      let bytes = try directory.file("error").contents(limit: Self.errorBytes)
    else { return "failed" }
    return String(decoding: bytes, as: UTF8.self).trimmingCharacters(in: .newlines)
  }
}

extension Directory {
  /// The names of requests in this directory, in no order.
  fileprivate func requestNames() throws -> [String] {
    var names = [String]()
    try forEachName { bytes in
      let name = String(decoding: bytes, as: UTF8.self)
      if RequestName(name) != nil, try entry(name)?.kind == .directory { names.append(name) }
      return true
    }
    return names
  }
}

extension FoundRequest {
  /// - Returns: nil when the receipt's moments or names cannot be read.
  fileprivate init?(_ receipt: Receipt, name: String, entry: Entry) {
    guard let acceptedAt = Timestamp(receipt.acceptedAt), let finishedAt = Timestamp(receipt.finishedAt),
      let inbox = try? InboxID(receipt.inbox)
    else { return nil }
    let isOfProfile = receipt.messages.contains { $0.kind.isOfProfile }
    self.init(
      request: name, inode: entry.inode, born: entry.born,
      conversation: isOfProfile ? .profile(of: inbox) : try? ConversationID(receipt.conversation), inbox: inbox,
      key: receipt.id, digest: receipt.digest, state: receipt.state, error: nil,
      duplicateOf: receipt.duplicateOf, acceptedAt: acceptedAt, finishedAt: finishedAt, isFiled: true,
      messages: receipt.messages.map { message in
        Message(
          message: MessageID(unchecked: message.message), kind: message.kind,
          file: message.kind == .text ? "text" : "", bytes: message.bytes, digest: "", state: message.state,
          sentAt: message.publishedAt.flatMap { Timestamp($0) }, remote: message.remote)
      })
  }

  /// - Parameter error: why it failed; nil for what lies in `cur/`.
  fileprivate init(
    _ name: String, _ entry: Entry, _ request: Result<Request, Refusal>, inbox: InboxID, error: String?,
    published: PublishedMessages, canBeAsked: (ConversationID) -> Bool
  ) {
    let contents = try? request.get()
    let conversation = contents?.conversation(defaultInbox: inbox)
    var refusal: String?
    if case .failure(let reason) = request { refusal = error ?? reason.description }
    let identity = RequestIdentity(entry)
    let accepted = Timestamp(milliseconds: entry.changed / 1_000_000)
    let waitsAs: MessageState = conversation.map(canBeAsked) == false ? .pending : .publishing
    let messages = (contents?.parts ?? []).map { part in
      let id = identity.message(part.file, of: name)
      let sentAt = published.moments[id]
      let state: MessageState = sentAt != nil ? .sent : error != nil ? .failed : waitsAs
      return Message(
        message: id, kind: part.kind, file: part.file, bytes: part.bytes, digest: part.digest.hex, state: state,
        sentAt: sentAt, remote: nil)
    }
    let fault = error ?? refusal
    let isSent = fault == nil && messages.allSatisfy { $0.state == .sent }
    self.init(
      request: name, inode: entry.inode, born: entry.born, conversation: conversation,
      inbox: contents?.inbox ?? inbox, key: contents?.key?.text, digest: contents?.digest.hex,
      state: fault != nil ? .failed : isSent ? .sent : .queued, error: fault, duplicateOf: nil, acceptedAt: accepted,
      finishedAt: fault != nil || isSent ? accepted : nil, isFiled: error != nil, messages: messages)
  }
}
