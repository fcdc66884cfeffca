import DurableFiles
import Secrets

/// Where the keys of an account are kept, and who gets keys of rooms.
package struct MatrixKeySettings: Sendable {
  /// The daemon's state directory.
  package let state: Directory
  /// The recovery key of an identity that another client made.
  package let recoveryKey: Renewable<Secret>?
  package let receivers: MatrixKeyReceivers
  /// Gets a sentence when somebody's identity changes.
  package let log: @Sendable (String) -> Void

  package init(
    state: Directory, recoveryKey: Renewable<Secret>? = nil, receivers: MatrixKeyReceivers = .crossSigned,
    log: @escaping @Sendable (String) -> Void = { _ in }
  ) {
    self.state = state
    self.recoveryKey = recoveryKey
    self.receivers = receivers
    self.log = log
  }
}
