import DurableFiles
import Ledgers
import Messages
import Spooling

extension RequestRow {
  var identity: RequestIdentity { RequestIdentity(inode: inode, born: born) }
}

extension NewRequest {
  /// Reads and checks a draft; nil if it is gone. Nothing is synced: a power cut may lose a draft.
  ///
  /// - Parameter patience: how long a file may still be open for writing, in seconds.
  init?(draft name: String, in spool: Spool, defaultInbox: InboxID, patience: Double) throws {
    guard let entry = try spool.draft.entry(name) else { return nil }
    guard RequestName(name) != nil else { throw Refusal.badName }
    guard entry.kind == .directory else { throw Refusal.notADirectory(entry.kind.noun) }
    do {
      let directory = try spool.draft.directory(name)
      let entry = try directory.entry()
      let identity = RequestIdentity(entry)
      let request = try RequestReader(directory, patience: patience).request
      if request.addressee == .profile { throw Refusal.draftOfProfile }
      self.init(
        droppedAs: name, inode: identity.inode, born: identity.born, inbox: request.inbox ?? defaultInbox,
        owner: Int64(entry.owner),
        contents: .success(NewRequest.Contents(request, identity, defaultInbox: defaultInbox)))
    } catch let error as FileError where error.isMissing {
      if try spool.draft.entry(name) == nil { return nil }
      throw error
    }
  }
}

extension Spool {
  /// Those of `drafts` that are neither in `draft/` nor in `new/`.
  func gone(_ drafts: [RequestRow]) throws -> [RequestRow] {
    func isIn(_ directory: Directory, _ draft: RequestRow) throws -> Bool {
      try directory.entry(draft.droppedAs).map(RequestIdentity.init) == draft.identity
    }
    let missing = try drafts.filter { try !isIn(draft, $0) && !isIn(new, $0) }
    if missing.isEmpty { return [] }
    // Sent under another name.
    var waiting = Set<RequestIdentity>()
    try new.forEachName { bytes in
      if let entry = try new.entry(String(decoding: bytes, as: UTF8.self)) { waiting.insert(RequestIdentity(entry)) }
      return true
    }
    return missing.filter { !waiting.contains($0.identity) }
  }
}
