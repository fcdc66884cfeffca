import DurableFiles
import Ledgers
import Spooling

/// Compares part of the cache with the ledger in both directions: removes files without rows, and corrects rows without
/// files. Power cuts and manual deletions cause both. Each run handles a fixed number of photos and continues where the
/// last one ended, so its cost does not depend on the cache's size.
struct CacheSlice: Sendable {
  let spool: Spool
  let ledger: Ledger
  let isRehearsal: Bool

  /// Photos per run and direction.
  private static let size = 1024

  func keep(_ notes: inout [String: String], _ report: inout JanitorReport) async throws {
    report.removed.orphans = try await removeOrphans(&notes)
    report.recounted = try await recount(&notes)
  }

  // MARK: Rows without files

  private func recount(_ notes: inout [String: String]) async throws -> Int {
    let after = notes["photos-row"].flatMap { Int64($0) } ?? 0
    let photos = try await ledger.countedPhotos(after: after, limit: Self.size)
    let files = PhotoCache(spool)
    var count = 0
    let counted = photos.filter { $0.hasOriginal || $0.hasThumbnails }
    for (photo, found) in zip(counted, try await ConcurrentMap.map(counted, { try files.look($0.path) })) {
      guard photo.hasOriginal && !found.original || photo.hasThumbnails && !found.thumbnails else { continue }
      if isRehearsal {
        count += 1
      } else if try await ledger.recount(photo, look: { try files.look($0) }) {
        count += 1
      }
    }
    notes["photos-row"] = photos.count < Self.size ? "0" : "\(photos.last?.row ?? 0)"
    return count
  }

  // MARK: Files without rows

  /// The position of the walk over `photos/INBOX/CONVERSATION/MESSAGE`, in each of the three directories.
  private struct Position {
    var inbox = 0
    var conversation = 0
    var message = 0

    init(_ note: String?) {
      let numbers = (note ?? "").split(separator: ":").compactMap { Int($0) }
      guard numbers.count == 3 else { return }
      (inbox, conversation, message) = (numbers[0], numbers[1], numbers[2])
    }

    var note: String { "\(inbox):\(conversation):\(message)" }
  }

  private func removeOrphans(_ notes: inout [String: String]) async throws -> Int {
    var found = [(directory: Directory, name: String)]()
    notes["photos"] = try walk(from: Position(notes["photos"])) { found.append(($0, $1)) }.note
    var count = 0
    let states = try await ledger.cachedStates(of: found.map(\.name))
    let looks = try await ConcurrentMap.map(zip(found, states).map { ($0.directory, $0.name, $1) }) {
      try surplus($1, in: $0, $2)
    }
    for (index, surplus) in looks.enumerated() where !surplus.isEmpty {
      let (directory, name, state) = (found[index].directory, found[index].name, states[index])
      if isRehearsal {
        count += 1
        continue
      }
      let isDone = try await ledger.whileCached(name, is: state) {
        if state == .unknown { return try directory.removeTree(name) }
        let files = try directory.directory(name)
        for file in surplus { try files.removeTree(file) }
      }
      if isDone { count += 1 }
    }
    return count
  }

  /// The names below a message that no row knows.
  private func surplus(_ name: String, in directory: Directory, _ state: CachedState) throws -> [String] {
    switch state {
    case .busy: return []
    case .unknown: return [name]
    case .photo(let hasOriginal, let hasThumbnails):
      guard try directory.entry(name)?.kind == .directory else { return [] }
      var wanted = Set(hasOriginal ? [PhotoCache.originalName] : [])
      if hasThumbnails { wanted.formUnion(PhotoCache.thumbnailNames) }
      if !wanted.isEmpty { wanted.insert(ReceivedNote.fileName) }
      return try directory.directory(name).names().filter { !wanted.contains($0) }
    }
  }

  private func walk(from start: Position, _ visit: (Directory, String) -> Void) throws -> Position {
    var position = start
    var rest = Self.size
    func below(_ parent: Directory, _ bytes: [UInt8]) throws -> Directory? {
      let name = String(decoding: bytes, as: UTF8.self)
      guard try parent.entry(name)?.kind == .directory else { return nil }
      do { return try parent.directory(name) } catch {
        if error.isMissing { return nil }
        throw error
      }
    }
    let isAtEnd = try spool.photos.forEachName(from: position.inbox) { inboxName, inboxPosition in
      position.inbox = inboxPosition
      guard let inbox = try below(spool.photos, inboxName) else { return true }
      let isInboxDone = try inbox.forEachName(from: position.conversation) { conversationName, conversationPosition in
        position.conversation = conversationPosition
        // Empty directories cost as much as photos do.
        rest -= 1
        guard let conversation = try below(inbox, conversationName) else { return rest > 0 }
        let isDone = try conversation.forEachName(from: position.message) { name, messagePosition in
          position.message = messagePosition
          if rest <= 0 { return false }
          rest -= 1
          visit(conversation, String(decoding: name, as: UTF8.self))
          return true
        }
        if isDone { position.message = 0 }
        return isDone
      }
      if isInboxDone { position.conversation = 0 }
      return isInboxDone
    }
    return isAtEnd ? Position(nil) : position
  }
}
