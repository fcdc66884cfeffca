import Signalling
import Spooling

/// The bells, mailboxes and mutexes that the daemon's services share. They are made before the services, so that one can
/// signal another without holding it.
struct DaemonSignals: Sendable {
  /// The events of the spool's directories.
  let spool = SpoolSignals()
  /// A message may be due.
  let dispatcher = Bell()
  /// A request may be over.
  let filing = Bell()
  /// An upload may be abandoned.
  let sweeper = Bell()
  /// Held while requests of `new/` are read and enter the ledger.
  let new = AsyncMutex()
  /// Held while drafts are looked at.
  let draft = AsyncMutex()

  /// Has everything that waits looked at: it may be due, over, or left to delete.
  func ringAll() {
    for bell in [dispatcher, filing, sweeper, spool.draft.bell, spool.incoming.bell] { bell.ring() }
  }
}
