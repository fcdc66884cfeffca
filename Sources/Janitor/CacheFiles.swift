import DurableFiles
import Messages
import Spooling

/// The files of the cache by the paths that the ledger keeps.
struct CacheFiles: Sendable {
  private let root: Directory

  static let original = "original.jpg"
  static let thumbnails = ["thumbnail.jpg", "blurred.jpg"]

  init(_ spool: Spool) { root = spool.photos }

  /// Removes a photo's original, or all that is there of it; what is not there is as good as removed.
  ///
  /// - Parameter path: `photos/INBOX/CONVERSATION/MESSAGE`.
  func remove(_ path: String, isWhole: Bool) throws {
    let names = path.split(separator: "/").map(String.init)
    guard names.count == 4 else { return }
    do {
      let inbox = try root.directory(names[1])
      let conversation = try inbox.directory(names[2])
      guard isWhole else { return try conversation.directory(names[3]).remove(Self.original) }
      try conversation.removeTree(names[3])
      // Directories above go with their last entry.
      if (try? inbox.removeEmpty(names[2])) != nil { try? root.removeEmpty(names[1]) }
    } catch let error as FileError {
      if !error.isMissing { throw error }
    }
  }

  /// When somebody last read what would be evicted of a photo; nil when nothing is there.
  func lastRead(_ path: String, isWhole: Bool) throws -> Timestamp? {
    let names = path.split(separator: "/").map(String.init)
    guard names.count == 4 else { return nil }
    do {
      let directory = try root.directory(names[1]).directory(names[2]).directory(names[3])
      let times = try (isWhole ? Self.thumbnails : [Self.original]).compactMap { try directory.entry($0)?.accessed }
      return times.max().map { Timestamp(milliseconds: $0 / 1_000_000) }
    } catch let error as FileError {
      if error.isMissing { return nil }
      throw error
    }
  }

  /// What is there of a photo.
  func look(_ path: String) throws -> (original: Bool, thumbnails: Bool) {
    let names = path.split(separator: "/").map(String.init)
    guard names.count == 4 else { return (false, false) }
    do {
      let directory = try root.directory(names[1]).directory(names[2]).directory(names[3])
      return (
        try directory.entry(Self.original) != nil,
        try Self.thumbnails.contains { try directory.entry($0) != nil }
      )
    } catch let error as FileError {
      if error.isMissing { return (false, false) }
      throw error
    }
  }
}
