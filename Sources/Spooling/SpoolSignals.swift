import Signalling

/// Where the watcher tells what it saw. Events are hints: the directories are the truth.
package struct SpoolSignals: Sendable {
  /// Events of `new/`.
  package let new = Mailbox()
  /// Events of `draft/`.
  package let draft = Mailbox(limit: 1024)
  /// Events of `incoming/new/`.
  package let incoming = Mailbox(limit: 4096)
  /// Something was put into `cancel/`.
  package let cancel = Bell()
  /// Something was put into `purge/`.
  package let purge = Bell()

  package init() {}

  /// Has every directory looked through.
  package func scanAll() {
    for mailbox in [new, draft, incoming] { mailbox.postScan() }
    for bell in [cancel, purge] { bell.ring() }
  }

  /// Events of every directory may have been missed.
  func loseAll() {
    for mailbox in [new, draft, incoming] { mailbox.postLoss() }
    for bell in [cancel, purge] { bell.ring() }
  }
}
