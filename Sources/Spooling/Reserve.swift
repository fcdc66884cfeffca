import DurableFiles

/// Room on the disk that is kept for those who make room: the file `state/reserve`.
///
/// A purge has to be written down before anything is deleted, and so has an eviction. On a disk that is full to its last block
/// neither could ever begin, and only somebody else could mend that.
public struct Reserve: Sendable {
  /// In `state/`.
  public static let fileName = "reserve"
  /// Enough for the order of a purge, the ledger's log and its index.
  static let bytes = 1 << 20
  /// It is not taken from a disk that has less than so many times as much left.
  private static let plenty = 4

  private let state: Directory

  /// The reserve of a spool; nothing is taken or given yet.
  public init(_ spool: Spool) { state = spool.state }

  /// Gives the room up where the disk has less than that left. For who is about to delete.
  public func give() throws {
    if try state.freeBytes() < Self.bytes { try state.remove(Self.fileName) }
  }

  /// Takes the room, unless it is taken or there is little of it. A crash may leave less of it, or nothing: the next one who
  /// takes it mends that, so that nothing is synced.
  ///
  /// Fails silently: whoever comes here has done its work, and on a disk that cannot keep this much the next work says so.
  public func take() {
    do {
      if try state.entry(Self.fileName)?.size == Self.bytes { return }
      guard try state.freeBytes() >= Self.plenty * Self.bytes else { return }
      try state.remove(Self.fileName)
      try state.file(creating: Self.fileName).allocate(Self.bytes)
    } catch {
      try? state.remove(Self.fileName)
    }
  }
}
