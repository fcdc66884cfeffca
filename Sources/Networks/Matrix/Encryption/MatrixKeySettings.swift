import DurableFiles
import Secrets

/// Where the keys of an account are kept, and who gets keys of rooms.
package struct MatrixKeySettings: Sendable {
  /// The daemon's state directory.
  let state: Directory
  /// The recovery key of an identity that another client made.
  var recoveryKey: Renewable<Secret>?
  var receivers = MatrixKeyReceivers.crossSigned
  /// Gets a sentence when somebody's identity changes.
  var log: @Sendable (String) -> Void = { _ in }
}
