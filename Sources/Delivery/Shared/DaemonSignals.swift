import Signalling
import Spooling

/// Bells, mailboxes and mutexes that the daemon's services share. They are made first, so that services can signal each
/// other without references.
struct DaemonSignals: Sendable {
  /// The events of the spool's directories.
  let spool = SpoolSignals()
  let dispatcher = Bell()
  let filing = Bell()
  let sweeper = Bell()
  /// Held while requests in `new/` are read and accepted.
  let new = AsyncMutex()
  /// Held while drafts are read.
  let draft = AsyncMutex()

  /// Signals everything that waits: messages may be due, requests over, or uploads abandoned.
  func ringAll() {
    for bell in [dispatcher, filing, sweeper, spool.draft.bell, spool.incoming.bell] { bell.ring() }
  }
}
