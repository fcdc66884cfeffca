import Children
import Messages

/// The table of causes for failures of a program, after sysexits.h. Other statuses fail the message, as programs use 1
/// for everything; 126 and 127 are a shell's for a program that it cannot run.
struct ExecFaults: Sendable {
  /// Its path, for sentences.
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

  func error(notStarted error: DeliveryError) -> DeliveryError { error.cause == .configError ? missing : noRoom }

  var missing: DeliveryError {
    DeliveryError(.configError, "\(program) cannot be run; check that it is there and executable")
  }

  /// This machine cannot start another process.
  var noRoom: DeliveryError {
    DeliveryError(.localResources, "\(program) cannot be run at the moment; check this machine's memory and limits")
  }

  /// We killed it. Whether it has published the message is unknown.
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
