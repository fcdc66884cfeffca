import Digests
import DurableFiles
import Glibc
import Messages

/// The four directories of `incoming/`, opened once.
package struct IncomingSpool: Sendable {
  /// Where what is to be renamed is built.
  let tmp: Directory
  /// Where bridges rename to.
  package let new: Directory
  /// What is being downloaded: a directory per photo, with the bytes that came so far, as they came. Also what left `new/`
  /// and is being deleted.
  package let cur: Directory
  package let failed: Directory
  let order = DropOrder()
  /// What is being deleted in `cur/` begins so.
  package static let takenPrefix = "taken-"

  package init(_ spool: Spool) throws {
    tmp = try spool.incoming.directory("tmp")
    new = try spool.incoming.directory("new")
    cur = try spool.incoming.directory("cur")
    failed = try spool.incoming.directory("failed")
  }

  /// Reads what lies in `new/` under `name`; nil when it is gone.
  ///
  /// - Throws: `IncomingRefusal` when it cannot be received; `FileError` when the disk fails.
  package func read(_ name: String) throws -> Incoming? {
    do {
      guard let entry = try new.entry(name) else { return nil }
      guard RequestName(name) != nil else {
        throw IncomingRefusal(
          "the name is not 1 to 128 of A-Za-z0-9._- or starts with . or -; rename it and move it into incoming/new/ again"
        )
      }
      guard entry.kind == .directory else {
        throw IncomingRefusal(
          "this is \(entry.kind.noun) and not a directory; make one with the files from-conversation, inbox, message and"
            + " attachment")
      }
      return try IncomingReader.read(new.directory(name))
    } catch let error as FileError {
      if error.isMissing, try new.entry(name) == nil { return nil }
      guard [EACCES, EPERM, ELOOP, EXDEV, ENOENT, ENOTDIR].contains(error.code) else { throw error }
      throw IncomingRefusal("it cannot be read: \(error); make it readable for photospool")
    }
  }

  /// Removes what the ledger has taken over. Found again after a crash, it is known there.
  ///
  /// Order: it leaves `new/` in one rename, so that nobody ever finds a part of it there; then it is deleted. Killed in
  /// between, it lies in `cur/`, where the next start removes what no photo is called by.
  package func remove(_ name: String) throws {
    let taken = Self.takenPrefix + name
    do {
      while try !new.move(name, to: cur, as: taken) { try cur.removeTree(taken) }
    } catch let error as FileError {
      if error.isMissing { return }
      throw error
    }
    try cur.removeTree(taken)
  }

  /// Moves what was refused into `failed/`, with a file `error` that says why in one line.
  ///
  /// Order: `error` is written into it, whole; it is renamed; both directories are synced. What cannot be written into,
  /// or has no good name, becomes the `entry` of a directory of its own there. Killed in between, it is refused again.
  ///
  /// - Returns: its name in `failed/`; nil when it is gone.
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

  /// - Returns: false when it is nothing to write into.
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
