import GRDB

/// Why the ledger cannot be used.
package enum LedgerError: Error, CustomStringConvertible {
  case notDurable(String)
  case damaged(path: String, fault: String)
  case newer(path: String)
  /// It is of an earlier version, and only the daemon upgrades it.
  case older(path: String)
  case missing(path: String)
  /// The file is missing, but the spool shows that there was one.
  case lost(path: String)
  /// The spool holds requests that only a later ledger knows.
  case outdated(path: String, requests: Int, first: String)
  /// The disk is full. Work continues once there is room.
  case full(path: String)
  /// The disk refused a change, which was rolled back. Work continues once it accepts changes.
  case unwritable(path: String, fault: String)
  /// SQLite has no memory. Work continues once there is some.
  case withoutMemory(path: String)
  /// Another program holds SQLite's lock.
  case busy(path: String)
  /// The disk did not confirm a change. Nothing written through this handle can be trusted.
  case unconfirmed(path: String, fault: String)

  /// This process can no longer write.
  package var isFinal: Bool {
    switch self {
    case .damaged, .unconfirmed: true
    default: false
    }
  }

  /// A later attempt may succeed without a repair.
  package var mayPass: Bool {
    switch self {
    case .full, .unwritable, .withoutMemory, .busy: true
    default: false
    }
  }

  package var description: String {
    switch self {
    case .notDurable(let fault):
      "the ledger cannot keep its promises: \(fault)"
    case .damaged(let path, let fault):
      "the ledger \(path) is damaged: \(fault); stop photospool and run `photospool rebuild`, which keeps the damaged file"
    case .newer(let path):
      "the ledger \(path) was written by a newer photospool; install that version again"
    case .older(let path):
      "the ledger \(path) is that of an earlier photospool; start `photospool run` of this version, in place of one that runs, then try again"
    case .missing(let path):
      "there is no ledger at \(path) yet; `photospool run` makes it"
    case .lost(let path):
      "the ledger \(path) is gone, though the spool is in use; put it back, or run `photospool rebuild`"
    case .outdated(let path, let requests, let first):
      "the ledger \(path) is older than its spool: it does not know \(requests) of the requests in cur/, \(first) for one; put the right one back, or run `photospool rebuild`"
    case .full(let path):
      "the disk is full, so the ledger \(path) cannot be written; free space, and work continues by itself"
    case .unwritable(let path, let fault):
      "the ledger \(path) cannot be written: \(fault); repair the disk, and work continues by itself"
    case .withoutMemory(let path):
      "there is no memory for the ledger \(path); allow photospool more memory, and start it again if it has ended"
    case .busy(let path):
      "a program has been using the ledger \(path) for long; end it, then try again"
    case .unconfirmed(let path, let fault):
      "the disk did not confirm a write to the ledger \(path): \(fault); check the kernel's log, repair the disk, then start photospool again"
    }
  }
}

extension LedgerError {
  /// The meaning of an error of a ledger that cannot be opened or read.
  init(reading path: String, _ error: DatabaseError) {
    self = LedgerError(error, path: path) ?? .damaged(path: path, fault: error.message ?? error.description)
  }

  /// The meaning of SQLite's error; nil if the disk and the file are not at fault.
  init?(_ error: any Error, path: String) {
    guard let error = error as? DatabaseError else { return nil }
    let fault = error.message ?? "\(error.extendedResultCode)"
    switch error.extendedResultCode {
    case .SQLITE_IOERR_FSYNC, .SQLITE_IOERR_DIR_FSYNC: self = .unconfirmed(path: path, fault: fault)
    case .SQLITE_IOERR_NOMEM: self = .withoutMemory(path: path)
    default:
      switch error.resultCode {
      case .SQLITE_CORRUPT, .SQLITE_NOTADB: self = .damaged(path: path, fault: fault)
      case .SQLITE_FULL: self = .full(path: path)
      case .SQLITE_NOMEM: self = .withoutMemory(path: path)
      case .SQLITE_IOERR, .SQLITE_CANTOPEN, .SQLITE_READONLY, .SQLITE_PERM:
        self = .unwritable(path: path, fault: fault)
      case .SQLITE_BUSY: self = .busy(path: path)
      default: return nil
      }
    }
  }
}
