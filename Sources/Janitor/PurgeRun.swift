import Digests
import DurableFiles
import Ledgers
import Messages
import Spooling

/// The numbers of a purge, without names.
package struct PurgeCount: Sendable, Equatable, Encodable {
  package var conversations = 0
  package var requests = 0
  package var photos = 0
  /// Conversations that the running daemon has to purge.
  package var leftToDaemon = 0

  package init() {}

  package static func += (left: inout Self, right: Self) {
    left.conversations += right.conversations
    left.requests += right.requests
    left.photos += right.photos
  }
}

/// The purge of conversations, in three repeatable steps (docs/durability.md).
///
/// 1. `begin` commits the tombstone, so that nothing more is published, and removes waiting requests outside of the
///   ledger.
/// 2. `finish` removes files, then rows. It abandons unreadable objects for the sweeper or `run`. The conversation must
///   have no work in progress.
/// 3. `complete` overwrites the remains of rows in the ledger's files and strikes the order out.
///
/// Each entry leaves its place in one rename, so that a partly removed request is never mistaken for another.
/// `state/trash` holds it until it is deleted; the next purge empties it, too.
package struct PurgeRun: Sendable {
  private let spool: Spool
  private let ledger: Ledger
  private let publishedNames: @Sendable (ConversationID) -> [ConversationID]
  private let objects: @Sendable () throws -> ObjectDirectories
  private let takeMails: @Sendable () async throws -> Void

  private static let batch = 256

  /// - Parameters:
  ///   - publishedNames: the names under which the `local` network may have published a conversation.
  ///   - objects: the local directories of stores.
  ///   - takeMails: makes requests of all waiting mails, whose conversations nobody knows before.
  package init(
    spool: Spool, ledger: Ledger,
    publishedNames: @escaping @Sendable (ConversationID) -> [ConversationID] = { [$0] },
    objects: @escaping @Sendable () throws -> ObjectDirectories = { try ObjectDirectories([:]) },
    takeMails: @escaping @Sendable () async throws -> Void = {}
  ) {
    self.spool = spool
    self.ledger = ledger
    self.publishedNames = publishedNames
    self.objects = objects
    self.takeMails = takeMails
  }

  /// The conversations in `purge/`, and those with an unfinished purge.
  package func ordered() async throws -> (conversations: [ConversationID], unreadable: [String]) {
    var orders = try PurgeOrders(spool).read()
    for conversation in try await ledger.begunPurges() where !orders.conversations.contains(conversation) {
      orders.conversations.append(conversation)
    }
    return orders
  }

  /// Begins a purge. No request of the conversation may be entering the ledger, and none may enter it until `complete`.
  /// Returns nil if the ledger does not know the conversation; files may still name it.
  package func begin(_ conversation: ConversationID) async throws -> PurgedConversation? {
    try await takeMails()
    let purged = try await ledger.beginPurge(of: conversation, at: .now())
    let trash = try Trash(spool)
    let names = RequestsOf(conversation)
    for directory in [spool.draft, spool.new] {
      for found in try names.requests(in: directory) { try trash.take(found, from: directory) }
    }
    // A locked directory is still being written; it is refused or accepted at Send.
    for found in try names.requests(in: spool.tmp) where try !spool.tmp.isLocked(found.name) {
      try trash.take(found, from: spool.tmp)
    }
    try await trash.empty(takenFrom: [spool.draft, spool.new, spool.tmp])
    return purged
  }

  /// Removes files and rows. The conversation must have no work in progress.
  package func finish(_ conversation: ConversationID, _ purged: PurgedConversation?) async throws -> PurgeCount {
    let trash = try Trash(spool)
    let names = RequestsOf(conversation)
    if let purged {
      var last: Int64 = 0
      while true {
        let requests = try await ledger.purgedRequests(of: purged, after: last, limit: Self.batch)
        guard let end = requests.last else { break }
        last = end.row
        let places = [spool.cur, spool.sent, spool.failed]
        for request in requests {
          for place in places {
            if let found = try names.request(request, in: place) { try trash.take(found, from: place) }
          }
        }
        try await trash.empty(takenFrom: places)
      }
    }
    // Refused requests, whose conversation the ledger does not know. Rows go first: after a crash the files still name
    // the request.
    let refused = try names.requests(in: spool.failed)
    try await ledger.forgetRefused(refused.map(\.name))
    for found in refused { try trash.take(found, from: spool.failed) }
    var places = [spool.failed, spool.published]
    for name in Spool.incomingNames {
      let directory = try spool.incoming.directory(name)
      for found in try names.received(in: directory) { try trash.take(found, from: directory) }
      places.append(directory)
    }
    for inbox in try spool.photos.names() where try spool.photos.entry(inbox)?.kind == .directory {
      let directory = try spool.photos.directory(inbox)
      guard try trash.take(conversation.fileName, from: directory) != nil else { continue }
      places.append(directory)
      try? spool.photos.removeEmpty(inbox)
    }
    for name in publishedNames(conversation) {
      let file = name.fileName + ".jsonl"
      try await abandonObjects(publishedIn: file)
      _ = try trash.take(file, from: spool.published)
    }
    try await trash.empty(takenFrom: places)
    var count = PurgeCount()
    count.conversations = 1
    if let purged { (count.requests, count.photos) = try await ledger.endPurge(of: purged) }
    return count
  }

  /// Abandons objects published by the `local` network, whose keys are only in its file. Committed before the file is
  /// removed, so that a crash forgets none.
  private func abandonObjects(publishedIn name: String) async throws {
    guard try spool.published.entry(name)?.kind == .file else { return }
    let directories = try objects()
    var photos = PublishedPhotos(try spool.published.file(name))
    while let batch = try photos.next() {
      let abandoned = try batch.flatMap { photo in
        try directories.stores(of: photo.object).map { store in
          (message: photo.message, store: store, object: photo.object.hex, isSealed: photo.isSealed)
        }
      }
      try await ledger.abandonPublished(abandoned)
    }
  }

  /// Deletes abandoned objects from local directories, as the daemon's sweeper does. The next daemon handles other
  /// stores and failures.
  private func deleteAbandoned() async throws {
    let directories = try objects()
    var left = Set<Int64>()
    while true {
      let uploads = try await ledger.claimAbandonedUploads(limit: Self.batch, exceptRows: left)
      if uploads.isEmpty { return }
      for upload in uploads {
        do {
          if let directory = directories.directory(of: upload.store) {
            try directory.remove(upload.object)
            try directory.sync()
            try await ledger.forgetUpload(upload.row)
            continue
          }
        } catch is FileError {}
        try await ledger.unclaimAbandonedUpload(upload.row)
        left.insert(upload.row)
      }
    }
  }

  /// Overwrites the remains of the rows and strikes the orders out. Requests may enter the ledger again after that.
  package func complete(_ conversations: [ConversationID]) async throws {
    try await ledger.scrub()
    try await removeFormerLedgers()
    try PurgeOrders(spool).strike(Set(conversations))
  }

  /// Removes former ledgers as a whole, because a damaged ledger cannot be purged in part.
  private func removeFormerLedgers() async throws {
    let trash = try Trash(spool)
    for name in try spool.state.names() where name == Ledger.workplaceName || name.hasPrefix(Ledger.formerPrefix) {
      _ = try trash.take(name, from: spool.state)
    }
    try await trash.empty(takenFrom: [spool.state])
  }

  /// All steps, for a spool that nobody else uses.
  package func run(_ conversations: [ConversationID]) async throws -> PurgeCount {
    var count = PurgeCount()
    for conversation in conversations { count += try await finish(conversation, begin(conversation)) }
    try await deleteAbandoned()
    try await complete(conversations)
    return count
  }
}

extension Trash {
  /// Takes a found entry, unless another one has its name by now.
  fileprivate func take(_ found: RequestsOf.Found, from place: Directory) throws {
    _ = try take(found.name, from: place) { RequestIdentity($0) == found.identity }
  }

  /// Deletes all entries durably, also those of a killed process, which may name no conversation any more. An entry that
  /// cannot be deleted does not stop the rest.
  fileprivate func empty(takenFrom places: [Directory]) async throws {
    for place in places { try place.sync() }
    let names = try directory.names()
    var failure: (any Error)?
    for name in names {
      do {
        if try directory.entry(name)?.kind == .directory {
          let below = try directory.directory(name)
          _ = try await ConcurrentMap.map(below.names()) { try below.removeTree($0) }
        }
        try directory.removeTree(name)
      } catch { failure = error }
    }
    if !names.isEmpty { try directory.sync() }
    if let failure { throw failure }
  }
}
