import DurableFiles
import Foundation
import Ledgers
import Messages
import Spooling

/// The requests found in the spool without its ledger: receipts, failed requests, then those in `cur/` in the order of
/// acceptance. Copies count once: of two receipts of a message, the one in the directory of its own name; of two
/// requests with a name, the one in `cur/`.
struct FoundRequests {
  private(set) var all: [FoundRequest] = []
  /// Paths of ignored copies below the spool.
  private(set) var copies: [String] = []
  /// The receipts of sent photos.
  private(set) var receipts: [MessageID: Receipt.Message] = [:]
  private(set) var unreadable = 0

  private let spool: Spool

  private static let receipts = [Receipt.fileName, ".\(Receipt.fileName).tmp"]

  /// A request without a receipt.
  fileprivate struct Unsent {
    let name: String
    let place: Directory
    let entry: Entry
    let request: Result<Request, Refusal>

    /// The ids of its messages, if readable.
    var messages: [MessageID] {
      (try? request.get().parts.map { RequestIdentity(entry).message($0.file, of: name) }) ?? []
    }
  }

  init(in spool: Spool, inbox: InboxID, canBeAsked: (ConversationID) -> Bool) throws {
    self.spool = spool
    try finishFiling()
    let waiting = try unsent(arrived: spool.cur)
    try takeReceipts(except: Set(waiting.map(\.name)))
    let taken = Set(waiting.map(\.name) + all.map(\.row.request))
    var failed = [Unsent]()
    for name in try spool.failed.requestNames() {
      // Entries that are not directories or have invalid names have no row.
      guard try spool.failed.entry("\(name)/entry") == nil, try spool.failed.entry("\(name)/mail") == nil,
        let entry = try spool.failed.entry(name)
      else { continue }
      if taken.contains(name) {
        copies.append("failed/\(name)")
      } else {
        failed.append(Unsent(name: name, place: spool.failed, entry: entry, request: try read(name, in: spool.failed)))
      }
    }
    // A retried request is new to intake, unless its row says what was published.
    let names = taken.union(failed.map(\.name))
    let again = try unsent(arrived: spool.new).filter { (try? $0.request.get()) != nil && !names.contains($0.name) }
    let published = try PublishedMessages(
      in: spool, among: Set((failed + waiting + again).flatMap(\.messages)))
    let revived = try again.filter { request in
      try request.messages.contains { published.moments[$0] != nil } || spool.new.entry("\(request.name)/error") != nil
    }
    for (request, error) in try (failed + revived).map({ ($0, try error(of: $0)) }) + waiting.map({ ($0, nil) }) {
      all.append(FoundRequest(request, inbox: inbox, error: error, published: published, canBeAsked: canBeAsked))
    }
  }

  /// The requests in a directory, in order of arrival.
  private func unsent(arrived place: Directory) throws -> [Unsent] {
    let scan = try ArrivalScan(place)
    return try (0..<scan.count).compactMap { index in
      let name = scan[index].name
      guard RequestName(name) != nil, let entry = try place.entry(name), entry.kind == .directory else { return nil }
      return Unsent(name: name, place: place, entry: entry, request: try read(name, in: place))
    }
  }

  /// - Parameter names: waiting requests, which precede receipts of the same name.
  private mutating func takeReceipts(except names: Set<String>) throws {
    var found = [(name: String, entry: Entry, receipt: Receipt)]()
    for name in try spool.sent.requestNames() {
      guard let entry = try spool.sent.entry(name), entry.kind == .directory else { continue }
      guard let receipt = try Receipt(in: spool.sent.directory(name)) else {
        unreadable += 1
        continue
      }
      found.append((name, entry, receipt))
    }
    var messages = Set<String>()
    for (name, entry, receipt) in found.filter({ $0.name == $0.receipt.request })
      + found.filter({ $0.name != $0.receipt.request })
    {
      let isCopy = receipt.messages.contains { messages.contains($0.message) }
      if isCopy || names.contains(name) {
        copies.append("sent/\(name)")
        continue
      }
      guard let request = FoundRequest(receipt, name: name, entry: entry) else {
        unreadable += 1
        continue
      }
      all.append(request)
      for message in receipt.messages {
        messages.insert(message.message)
        if message.kind.hasPhoto { receipts[MessageID(unchecked: message.message)] = message }
      }
    }
  }

  /// Completes the filing of requests with a receipt in `cur/`.
  private func finishFiling() throws {
    for name in try spool.cur.requestNames() {
      let directory = try spool.cur.directory(name)
      guard try Receipt(in: directory) != nil else {
        // A partial receipt after a crash is not part of the request.
        for file in try directory.names() where Self.receipts.contains(file) { try directory.removeTree(file) }
        continue
      }
      for file in try directory.names() where file != Receipt.fileName { try directory.removeTree(file) }
      try directory.sync()
      // A name that is taken by a copy does no harm.
      guard let base = RequestName(name) else { continue }
      for number in 1... where try spool.cur.move(name, to: spool.sent, as: base.alternative(number).text) { break }
      try spool.sent.sync()
      try spool.cur.sync()
    }
  }

  private func read(_ name: String, in place: Directory) throws -> Result<Request, Refusal> {
    do { return .success(try RequestReader(place.directory(name)).request) } catch let refusal as Refusal {
      return .failure(refusal)
    } catch let error as FileError where !error.isPassing {
      return .failure(.unreadable(error.description))
    }
  }

  private func error(of request: Unsent) throws -> String {
    try request.place.directory(request.name).error() ?? "failed"
  }
}

extension Directory {
  /// The sorted names of requests in this directory.
  fileprivate func requestNames() throws -> [String] { try directoryNames().filter { RequestName($0) != nil } }
}

extension FoundRequest {
  /// - Returns: nil if times or names in the receipt are invalid.
  fileprivate init?(_ receipt: Receipt, name: String, entry: Entry) {
    guard let acceptedAt = Timestamp(receipt.acceptedAt), let finishedAt = Timestamp(receipt.finishedAt),
      let inbox = try? InboxID(receipt.inbox)
    else { return nil }
    var row = RequestRow(name, entry)
    row.inbox = inbox
    row.key = receipt.id
    row.digest = receipt.digest
    row.state = receipt.state
    row.duplicateOf = receipt.duplicateOf
    row.acceptedAt = acceptedAt
    row.finishedAt = finishedAt
    row.filed = 1
    let isOfProfile = receipt.messages.contains { $0.kind.isOfProfile }
    self.init(
      row, error: nil, in: isOfProfile ? .profile(of: inbox) : try? ConversationID(receipt.conversation),
      receipt.messages.map { message in
        var row = MessageRow()
        row.message = MessageID(unchecked: message.message)
        row.kind = message.kind
        row.file = message.kind == .text ? "text" : ""
        row.bytes = message.bytes
        row.state = message.state
        row.attempts = message.state == .publishing ? 1 : 0
        row.sentAt = message.publishedAt.flatMap { Timestamp($0) }
        row.remote = message.remote
        return row
      })
  }

  /// - Parameter error: the reason of a failure; nil in `cur/`.
  fileprivate init(
    _ unsent: FoundRequests.Unsent, inbox: InboxID, error: String?, published: PublishedMessages,
    canBeAsked: (ConversationID) -> Bool
  ) {
    let contents = try? unsent.request.get()
    let conversation = contents?.conversation(defaultInbox: inbox)
    let waitsAs: MessageState = conversation.map(canBeAsked) == false ? .pending : .publishing
    let messages = (contents?.parts ?? []).map { part in
      var row = MessageRow()
      row.message = RequestIdentity(unsent.entry).message(part.file, of: unsent.name)
      row.kind = part.kind
      row.file = part.file
      row.bytes = part.bytes
      row.digest = part.digest.hex
      row.sentAt = published.moments[row.message]
      row.state = row.sentAt != nil ? .sent : error != nil ? .failed : waitsAs
      row.attempts = row.state == .publishing ? 1 : 0
      return row
    }
    var fault = error
    if case .failure(let refusal) = unsent.request { fault = error ?? refusal.description }
    var row = RequestRow(unsent.name, unsent.entry)
    row.inbox = contents?.inbox ?? inbox
    row.key = contents?.key?.text
    row.digest = contents?.digest.hex
    row.state = fault != nil ? .failed : messages.allSatisfy { $0.state == .sent } ? .sent : .queued
    row.acceptedAt = Timestamp(milliseconds: unsent.entry.changed / 1_000_000)
    row.finishedAt = row.state == .queued ? nil : row.acceptedAt
    row.filed = error != nil ? 1 : 0
    self.init(row, error: fault, in: conversation, messages)
  }
}

extension RequestRow {
  fileprivate init(_ name: String, _ entry: Entry) {
    self.init()
    request = name
    inode = entry.inode
    born = entry.born
  }
}
