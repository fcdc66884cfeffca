import Control
import DurableFiles
import Glibc
import Ledgers
import Messages
import SettingKit
import Spooling

/// The exit statuses, from sysexits.h.
package enum ExitStatus: Int32 {
  case done = 0
  case usage = 64
  case badData = 65
  case noInput = 66
  case noUser = 67
  case unavailable = 69
  case cannotCreate = 73
  case inputOutput = 74
  case tryAgain = 75
  case noPermission = 77
  case configuration = 78

  /// The status of our own errors; nil for those of the argument parser.
  package init?(for error: any Error) {
    switch error {
    case let error as Failure: self = error.status
    case is SettingsError: self = .configuration
    case let error as SpoolError:
      switch error {
      case .busy, .full: self = .tryAgain
      case .notASpool: self = .cannotCreate
      case .openToEverybody, .cannotShare, .cannotShareMail: self = .noPermission
      case .severalFilesystems: self = .configuration
      }
    case let error as FileError:
      switch error.code {
      case EACCES, EPERM: self = .noPermission
      case ENOENT: self = .noInput
      case ENOSPC, EDQUOT, EMFILE, ENFILE: self = .tryAgain
      default: self = .inputOutput
      }
    case let error as LedgerError:
      switch error {
      case .missing: self = .unavailable
      case .full, .unwritable, .withoutMemory, .busy, .older: self = .tryAgain
      case .damaged, .newer, .notDurable, .lost, .outdated, .unconfirmed: self = .inputOutput
      }
    case is Refusal, is IdentifierError: self = .badData
    case is SubmissionError: self = .inputOutput
    case is ControlError: self = .unavailable
    default: return nil
    }
  }
}

/// Why a command failed: one sentence and its exit status.
package struct Failure: Error, CustomStringConvertible {
  package let status: ExitStatus
  package let description: String

  package init(_ status: ExitStatus, _ sentence: String) {
    self.status = status
    description = sentence
  }
}

extension FileError {
  /// The remedy for a missing permission, as the end of the sentence; empty for other errors.
  package var remedy: String {
    if isMissing && operation == "make the spool" { return "; make \(parent) with `mkdir -p`, or name another spool" }
    guard isForbidden else { return "" }
    if SpoolUser.hasChanged {
      return "; root works on this spool as its user \(SpoolUser.name), who lacks the permission"
    }
    var status = stat()
    guard lstat(path, &status) == 0 || lstat(parent, &status) == 0, let entry = getpwuid(status.st_uid) else {
      return "; run it as the user of the spool"
    }
    if status.st_uid == geteuid() { return "; check its permissions with `ls -ld`, and correct them with chmod" }
    let owner = String(cString: entry.pointee.pw_name)
    return "; it is \(owner)'s: run this as \(owner), or have \(owner) permit it"
  }

  private var parent: String { String(path[..<(path.lastIndex(of: "/") ?? path.startIndex)]) }
}
