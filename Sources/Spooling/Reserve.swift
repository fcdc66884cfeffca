import DurableFiles

/// Room on the disk that is kept for those who make room: the file `state/reserve`.
///
/// A purge has to be written down before anything is deleted, and so have an eviction, a cancellation and the end of a request.
/// On a disk that is full to its last block none of them could begin. So that new requests do not take that room, none is
/// accepted while less than that is free.
package struct Reserve: Sendable {
  /// In `state/`.
  package static let fileName = "reserve"
  /// Enough for the ledger's log and its index, and for a photo on its way. While less is free, new requests wait.
  package static let bytes = 4 << 20
  /// Less than that is none: enough for the order of a purge.
  private static let enough = 1 << 20
  /// It is not taken from a disk that has less than so many times as much left.
  private static let plenty = 4

  private let state: Directory

  /// The reserve of a spool; nothing is taken or given yet.
  package init(_ spool: Spool) { state = spool.state }

  /// Gives the room up where the disk has next to nothing left. For who is about to make room.
  package func give() throws {
    if try state.freeBytes() < Self.enough { try state.remove(Self.fileName) }
  }

  /// Whether a photo of `bytes` has room in the cache and in a store beside it. The rest is the ledger's, so that photos which
  /// wait for one another do not take the room to end any.
  package func hasRoom(for bytes: Int) throws -> Bool {
    try give()
    return try state.freeBytes() >= 2 * bytes + Self.enough
  }

  /// Whether the disk has much more than the reserve left.
  package func hasPlenty() throws -> Bool { try state.freeBytes() >= Self.plenty * Self.bytes }

  /// Takes the room, unless it is taken or there is little of it. A crash may leave less of it, or nothing: the next one who
  /// takes it mends that, so that nothing is synced.
  ///
  /// Fails silently: whoever comes here has done its work, and on a disk that cannot keep this much the next work says so.
  package func take() {
    do {
      if try state.entry(Self.fileName)?.size == Self.bytes { return }
      guard try hasPlenty() else { return }
      try state.remove(Self.fileName)
      try state.file(creating: Self.fileName).allocate(Self.bytes)
    } catch {
      try? state.remove(Self.fileName)
    }
  }
}
