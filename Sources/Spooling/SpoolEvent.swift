/// What the watcher saw in the spool. Events are hints: the directories are the truth.
public enum SpoolEvent: Sendable, Equatable {
  /// Renamed into `new/`, in the order in which the kernel saw it.
  case arrived(String)
  /// Made in place in `new/`, which no client should do.
  case builtInPlace(String)
  /// Renamed into `draft/`, or out of it, or deleted there.
  case draftChanged(String)
  /// Made in place in `draft/`.
  case draftBuiltInPlace(String)
  /// Something was put into `cancel/`.
  case cancelRequested
  /// Something was put into `purge/`.
  case purgeRequested
  /// Renamed into `incoming/new/`.
  case received(String)
  /// Made in place in `incoming/new/`.
  case receivedInPlace
  /// Names may have been missed; look into the directories again.
  case overflow
  /// `new/` itself was moved away, deleted or unmounted. (A `draft/` that vanished is told as `overflow`.)
  case vanished
  /// Everything that happened before the fence of this number was told.
  case fence(String)
}
