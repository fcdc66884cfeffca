/// A mistake that is planted into the simulated daemon, to see that the oracle finds it.
enum Plant: String, CaseIterable {
  /// The network is asked before `publishing` is committed.
  case publishesBeforeCommit
  /// Every attempt has an id of its own.
  case forgetsKey
  /// Requests are accepted by their names, not in the order in which they came.
  case ordersByName
  /// An upload is deleted as soon as its attempt failed, whoever may have seen it.
  case deletesOffered
  /// A purge does not wait for what is in hand.
  case purgesInHand
  /// What was in hand at the kill is not set back.
  case doesNotRecover
  /// The ledger's word that a message was cancelled is not heard.
  case ignoresCancel
}
