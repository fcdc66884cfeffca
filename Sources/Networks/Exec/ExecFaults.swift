import Children
import Messages

/// What the failures of a program mean for the message: the one table of causes, after sysexits.h.
///
/// What sysexits.h does not have fails the message, as a program that knows no better says 1 for everything; 126 and 127
/// are a shell's words for a program that it cannot run.
struct ExecFaults: Sendable {
  /// Its path, as the sentences call it.
  let program: String

  func error(_ result: ChildEnd) -> DeliveryError {
    let because = result.errors.lastLine.map { ": \($0)" } ?? ""
    switch result.status {
    case .exited(let code):
      let (cause, words) = finding(code)
      return DeliveryError(cause, "\(program) \(words) (\(code))\(because)")
    case .killed(by: let signal):
      return DeliveryError(.serverBusy, "\(program) was killed by signal \(signal)\(because)")
    }
  }

  /// It was not started.
  func error(notStarted error: DeliveryError) -> DeliveryError { error.cause == .configError ? missing : noRoom }

  var missing: DeliveryError {
    DeliveryError(.configError, "\(program) cannot be run; check that it is there and executable")
  }

  /// This machine has no room for another process.
  var noRoom: DeliveryError {
    DeliveryError(.localResources, "\(program) cannot be run at the moment; check this machine's memory and limits")
  }

  /// It was killed by us. Whether it had published the message is not known.
  var tookTooLong: DeliveryError { DeliveryError(.timeout, "\(program) took longer than it may and was stopped") }

  /// This process did not wait for its end.
  var interrupted: DeliveryError { DeliveryError(.timeout, "\(program) was interrupted; it is run again") }

  private func finding(_ code: Int32) -> (Cause, String) {
    switch code {
    case 64: (.rejected, "does not take the arguments or the message")
    case 65: (.malformedRequest, "does not understand the message")
    case 66: (.rejected, "misses what it was to read")
    case 67, 68: (.roomGone, "knows no such conversation")
    case 69, 70, 75: (.serverBusy, "asks to be tried again")
    case 71: (.localResources, "lacks something of this machine")
    case 72: (.configError, "misses a file of the system; check its installation")
    case 73: (.localStorageError, "cannot write a file")
    case 74: (.network, "could not read or write")
    case 76: (.rejected, "was answered what it does not understand")
    case 77: (.forbidden, "is not allowed to send there")
    case 78: (.configError, "is not configured")
    case 126, 127: (.configError, "cannot be run; check its first line and what it calls")
    default: (.rejected, "failed")
    }
  }
}
