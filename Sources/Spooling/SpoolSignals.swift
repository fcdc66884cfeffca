import Signalling

/// Where the watcher tells what it saw. Events are hints: the directories are the truth.
public struct SpoolSignals: Sendable {
  /// Events of `new/`.
  public let new = Mailbox()
  /// Events of `draft/`.
  public let draft = Mailbox(limit: 1024)
  /// Events of `incoming/new/`.
  public let incoming = Mailbox(limit: 4096)
  /// Something was put into `cancel/`.
  public let cancel = Bell()
  /// Something was put into `purge/`.
  public let purge = Bell()

  public init() {}

  /// Has every directory looked through.
  public func scanAll() {
    for mailbox in [new, draft, incoming] { mailbox.postScan() }
    for bell in [cancel, purge] { bell.ring() }
  }

  /// Events of every directory may have been missed.
  func loseAll() {
    for mailbox in [new, draft, incoming] { mailbox.postLoss() }
    for bell in [cancel, purge] { bell.ring() }
  }
}
