import Signalling

/// The watcher's notifications. They are hints; the directories are the truth.
package struct SpoolSignals: Sendable {
  package let new = Mailbox()
  package let draft = Mailbox(limit: 1024)
  package let incoming = Mailbox(limit: 4096)
  /// A file arrived in `cancel/`.
  package let cancel = Bell()
  /// A file arrived in `purge/`.
  package let purge = Bell()

  package init() {}

  /// Requests a scan of every directory.
  package func scanAll() {
    for mailbox in [new, draft, incoming] { mailbox.postScan() }
    for bell in [cancel, purge] { bell.ring() }
  }

  /// Reports that events of every directory may be lost.
  func loseAll() {
    for mailbox in [new, draft, incoming] { mailbox.postLoss() }
    for bell in [cancel, purge] { bell.ring() }
  }
}
