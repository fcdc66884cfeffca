import DurableFiles

/// The file `state/reserve`, which keeps room for work that frees room: purges, evictions, cancellations and ends of
/// requests. Each writes to the ledger first, and could not begin on a full disk. New requests are not accepted while
/// less room than the reserve is free.
package struct Reserve: Sendable {
  package static let fileName = "reserve"
  /// Enough for the ledger's log and index, and for a photo in progress.
  package static let bytes = 4 << 20
  /// The least room for a purge order. Below it the reserve is released.
  private static let enough = 1 << 20
  /// The reserve is taken only if this many times its size is free.
  private static let plenty = 4

  private let state: Directory

  package init(_ spool: Spool) { state = spool.state }

  /// Releases the reserve if the disk is almost full. Call it before work that frees room.
  package func give() throws {
    if try state.freeBytes() < Self.enough { try state.remove(Self.fileName) }
  }

  /// Whether a photo of `bytes` has room in the cache and in a store, beside what the ledger needs to finish other
  /// photos.
  package func hasRoom(for bytes: Int) throws -> Bool {
    try give()
    return try state.freeBytes() >= 2 * bytes + Self.enough
  }

  package func hasPlenty() throws -> Bool { try state.freeBytes() >= Self.plenty * Self.bytes }

  /// Allocates the reserve if it is missing and the disk has plenty of room. Nothing is synced: the next call repairs
  /// what a crash left. It fails silently, because its caller has done its work.
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
