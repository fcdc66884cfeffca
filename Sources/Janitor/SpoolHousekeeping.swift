import Digests
import DurableFiles
import Ledgers
import Messages
import Settings
import Spooling

/// Removes leftovers of clients and finished requests by age.
struct SpoolHousekeeping: Sendable {
  let spool: Spool
  let ledger: Ledger
  let settings: Settings.Janitor
  let clock: JanitorClock
  let isRehearsal: Bool
  /// Refused mails that are kept.
  var mostMails = 10_000

  private static let batch = 256
  /// Names in `failed/` and `incoming/failed/` that one run checks for entries unknown to the ledger.
  private static let slice = 2048

  func keep(_ notes: inout [String: String], _ report: inout JanitorReport) async throws {
    var left = [String]()
    let mail = try MailPlaces(in: spool.root)
    for place in [spool.tmp, try spool.incoming.directory("tmp")] + (mail.map { [$0.tmp] } ?? []) {
      report.removed.tmp += try await removeAbandoned(in: place, after: settings.tmp.seconds, &left) { name, _ in
        name != Array(ArrivalNumber.lockName.utf8)
      }
    }
    // Entries of draft/ that cannot be drafts.
    report.removed.drafts = try await removeAbandoned(in: spool.draft, after: settings.drafts.seconds, &left) {
      name, kind in
      kind != .directory || RequestName(String(decoding: name, as: UTF8.self)) == nil
    }
    report.removed.drafts += try await removeDrafts(&left)
    report.removed.receipts = try await forget(
      [.sent, .duplicate, .cancelled], after: settings.receipts.seconds, from: spool.sent)
    report.removed.failed = try await forget([.failed], after: settings.failed.seconds, from: spool.failed)
    for (place, note) in [(spool.failed, "failed"), (try spool.incoming.directory("failed"), "incoming-failed")] {
      report.removed.failed += try await removeUnknown(in: place, note, &notes, &left)
    }
    report.removed.failed += try await removeMails(&left)
    report.removed.announced = try await forgetAnnouncements()
    report.warnings += left
  }

  /// Counts one more if `remove` returns true. An entry that its client has locked is left and reported, and does not
  /// stop the rest.
  private func tidy(_ left: inout [String], _ count: inout Int, _ remove: () async throws -> Bool) async throws {
    do { if try await remove() { count += 1 } } catch let error as FileError { left.append("\(error)") }
  }

  // MARK: tmp/

  /// Removes abandoned entries. An entry whose program holds a lock on its directory stays, however old it is.
  private func removeAbandoned(
    in place: Directory, after seconds: Double, _ left: inout [String],
    where isAbandoned: ([UInt8], Entry.Kind) -> Bool
  ) async throws -> Int {
    var names = [[UInt8]]()
    try place.forEachName {
      names.append($0)
      return true
    }
    var count = 0
    for bytes in names {
      try await tidy(&left, &count) {
        guard let entry = try place.entry(bytes: bytes), isAbandoned(bytes, entry.kind),
          clock.isOlder(entry.changed, than: seconds)
        else { return false }
        var name = String(decoding: bytes, as: UTF8.self)
        if Array(name.utf8) != bytes {
          if isRehearsal { return true }
          // A name that is not UTF-8 is replaced first.
          name = ".removed-\(SHA256Digest(of: bytes).hex)"
          guard try place.moveAnything(bytes, to: place, as: name) else { return false }
        }
        if entry.kind == .directory {
          guard try clock.isOlder(lastChange(below: name, in: place), than: seconds),
            try !place.isLocked(name)
          else { return false }
        }
        if !isRehearsal { try place.removeTree(name) }
        return true
      }
    }
    return count
  }

  /// The last change of a request's directory or of one of its files.
  private func lastChange(below name: String, in place: Directory) throws -> Int64 {
    var last = Int64.min
    do {
      let directory = try place.directory(name)
      last = try directory.entry().changed
      try directory.forEachName { bytes in
        if let entry = try directory.entry(String(decoding: bytes, as: UTF8.self)) { last = max(last, entry.changed) }
        return true
      }
    } catch let error as FileError {
      if !error.isMissing { throw error }
    }
    return last
  }

  // MARK: Drafts

  /// Cancels a draft as its client would: it leaves `draft/`, and its uploads and rows follow.
  private func removeDrafts(_ left: inout [String]) async throws -> Int {
    var count = 0
    for name in try spool.draft.names() where RequestName(name) != nil {
      try await tidy(&left, &count) {
        guard let entry = try spool.draft.entry(name), entry.kind == .directory,
          clock.isOlder(entry.changed, than: settings.drafts.seconds),
          try clock.isOlder(lastChange(below: name, in: spool.draft), than: settings.drafts.seconds)
        else { return false }
        if isRehearsal { return true }
        guard let taken = try spool.takeAway(name, from: spool.draft, identity: RequestIdentity(entry)) else {
          return false
        }
        for draft in try await ledger.drafts(droppedAs: name)
        where RequestIdentity(inode: draft.inode, born: draft.born) == taken.identity {
          try await ledger.abandonDraft(draft)
        }
        try taken.delete()
        return true
      }
    }
    return count
  }

  // MARK: Finished requests

  /// Removes the directories of requests that ended `seconds` ago, then their rows.
  private func forget(_ states: [RequestState], after seconds: Double, from place: Directory) async throws -> Int {
    var count = 0
    let before = clock.now.advanced(seconds: -seconds)
    while true {
      let requests = try await ledger.filedRequests(in: states, before: before, limit: Self.batch)
      if requests.isEmpty { return count }
      count += requests.count
      // A rehearsal removes nothing, so the loop would not end; it reports a lower bound.
      if isRehearsal { return count }
      var gone = [RequestRow]()
      for request in requests {
        if try await remove(request, from: place) { gone.append(request) }
      }
      try place.sync()
      try await ledger.forgetFiled(gone)
      if gone.isEmpty { return count - requests.count }
      count -= requests.count - gone.count
    }
  }

  /// - Returns: false if the request is being sent again right now.
  private func remove(_ request: RequestRow, from place: Directory) async throws -> Bool {
    let identity = RequestIdentity(inode: request.inode, born: request.born)
    if let found = try own(request, in: place) {
      try spool.takeAway(request.request, from: place, identity: found)?.delete()
      return true
    }
    if place !== spool.failed { return true }
    // Its client has removed it, or moved it into new/ under any name.
    var isSent = false
    try spool.new.forEachName { bytes in
      if let entry = try spool.new.entry(String(decoding: bytes, as: UTF8.self)) {
        isSent = RequestIdentity(entry) == identity
      }
      return !isSent
    }
    return !isSent
  }

  /// The entry with a request's name, if it is that request.
  private func own(_ request: RequestRow, in place: Directory) throws -> RequestIdentity? {
    guard let entry = try place.entry(request.request), entry.kind == .directory else { return nil }
    let found = RequestIdentity(entry)
    if found == RequestIdentity(inode: request.inode, born: request.born) {
      // Without a time of birth the inode may have been reused; a new entry has its own time.
      let isSure = found.born != 0 || place !== spool.failed
      return isSure || clock.isOlder(entry.changed, than: settings.failed.seconds) ? found : nil
    }
    // A copied spool has other inodes.
    return try Receipt(in: place.directory(request.request))?.request == request.request ? found : nil
  }

  /// Removes entries of `failed/` without a row: requests with an invalid name, requests of a lost ledger, and incoming
  /// messages, which never have one. A run checks some names and continues where the last one ended.
  private func removeUnknown(
    in place: Directory, _ note: String, _ notes: inout [String: String], _ left: inout [String]
  ) async throws -> Int {
    var seen = 0
    var next = 0
    var old = [String]()
    let isAtEnd = try place.forEachName(from: notes[note].flatMap { Int($0) } ?? 0) { bytes, position in
      seen += 1
      if seen > Self.slice {
        next = position
        return false
      }
      let name = String(decoding: bytes, as: UTF8.self)
      if let entry = try place.entry(name), clock.isOlder(entry.changed, than: settings.failed.seconds) {
        old.append(name)
      }
      return true
    }
    notes[note] = "\(isAtEnd ? 0 : next)"
    // Entries with rows were removed before.
    return try await remove(old, from: place, &left)
  }

  private func remove(_ names: [String], from place: Directory, _ left: inout [String]) async throws -> Int {
    var count = 0
    for name in names {
      try await tidy(&left, &count) {
        if !isRehearsal { try place.removeTree(name) }
        return true
      }
    }
    return count
  }

  // MARK: Mails

  /// Removes the oldest refused mails of too many: a machine that mails an error again and again never stops.
  private func removeMails(_ left: inout [String]) async throws -> Int {
    // A directory has a link of each one in it, on most filesystems; so few entries cost nothing.
    let links = try spool.failed.entry().links
    guard links < 2 || links - 2 > mostMails else { return 0 }
    var mails = [(changed: Int64, name: String)]()
    try spool.failed.forEachName { bytes in
      let name = String(decoding: bytes, as: UTF8.self)
      if let entry = try spool.failed.entry(name), entry.kind == .directory,
        try spool.failed.directory(name).holdsRefusedMail
      {
        mails.append((entry.changed, name))
      }
      return true
    }
    let old = mails.sorted { $0.changed < $1.changed }.dropLast(mostMails)
    return try await remove(old.map(\.name), from: spool.failed, &left)
  }

  // MARK: Announcements

  private func forgetAnnouncements() async throws -> Int {
    let before = clock.now.advanced(seconds: -settings.announced.seconds)
    return try await isRehearsal
      ? ledger.forgettableAnnouncements(before: before) : ledger.forgetAnnouncements(before: before)
  }
}
