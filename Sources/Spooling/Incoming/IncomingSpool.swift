import DurableFiles
import Glibc

/// The directories of `incoming/`, opened once.
package struct IncomingSpool: Sendable {
  let tmp: Directory
  package let new: Directory
  /// Downloads in progress, a directory per photo.
  package let cur: Directory
  package let failed: Directory
  let order = DropOrder()
  private let spool: Spool

  package init(_ spool: Spool) throws {
    self.spool = spool
    tmp = try spool.incoming.directory("tmp")
    new = try spool.incoming.directory("new")
    cur = try spool.incoming.directory("cur")
    failed = try spool.incoming.directory("failed")
  }

  /// Reads an entry of `new/`; nil if it is gone.
  ///
  /// - Throws: `Refusal` if it is invalid; `FileError` if the disk fails.
  package func read(_ name: String) throws -> Incoming? {
    do {
      guard let entry = try new.entry(name) else { return nil }
      guard RequestName(name) != nil else {
        throw Refusal.incoming(
          "the name is not 1 to 128 of A-Za-z0-9._- or starts with . or -; rename it and move it into incoming/new/ again"
        )
      }
      guard entry.kind == .directory else {
        throw Refusal.incoming(
          "this is \(entry.kind.noun) and not a directory; make one with the files from-conversation, inbox, message and"
            + " attachment")
      }
      return try IncomingReader.read(new.directory(name))
    } catch let error as FileError {
      if error.isMissing, try new.entry(name) == nil { return nil }
      guard [EACCES, EPERM, ELOOP, EXDEV, ENOENT, ENOTDIR].contains(error.code) else { throw error }
      throw Refusal.incoming("it cannot be read: \(error); make it readable for photospool")
    }
  }

  /// Removes an entry that the ledger has accepted. After a crash the ledger recognises it.
  ///
  /// Order: a rename into the trash, so that nobody finds parts of it in `new/`, then the deletion.
  package func remove(_ name: String) throws { try Trash(spool).take(name, from: new)?.delete() }

  /// Moves a refused entry into `failed/` with an `error`.
  ///
  /// Order: `error` is written into it; it is renamed; both directories are synced. An entry that is not writable or
  /// has an invalid name becomes `entry` in a directory of its own. After a crash it is refused again.
  ///
  /// - Returns: its name in `failed/`; nil if it is gone.
  @discardableResult
  package func refuse(_ name: [UInt8], because sentence: String) throws -> RequestName? {
    let text = String(decoding: name, as: UTF8.self)
    if Array(text.utf8) == name, let base = RequestName(text), try explain(sentence, in: text) {
      for number in 1... {
        let failedName = base.alternative(number)
        do {
          guard try new.move(text, to: failed, as: failedName.text) else { continue }
        } catch {
          if error.isMissing { return nil }
          throw error
        }
        try failed.sync()
        try new.sync()
        return failedName
      }
    }
    return try Spool.quarantine(name, from: new, to: failed, because: sentence)
  }

  /// - Returns: false if it is not writable.
  private func explain(_ sentence: String, in name: String) throws -> Bool {
    guard try new.entry(name)?.kind == .directory else { return false }
    do {
      let directory = try new.directory(name)
      try directory.write(Array("\(sentence)\n".utf8), as: "error")
      try directory.sync()
      return true
    } catch {
      if error.isOutOfSpace { throw error }
      return false
    }
  }
}
