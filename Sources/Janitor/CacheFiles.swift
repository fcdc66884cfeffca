import DurableFiles
import Glibc
import Messages
import Spooling

/// The files of the cache by the paths that the ledger keeps.
struct CacheFiles: Sendable {
  private let root: Directory

  static let original = PhotoCache.originalName
  static let thumbnails = PhotoCache.thumbnailNames
  /// Says that a photo was received. It is of no use without the photo, and goes with the last of its files.
  static let note = ReceivedNote.fileName

  init(_ spool: Spool) { root = spool.photos }

  /// Removes a photo's original, or all that is there of it; what is not there is as good as removed.
  ///
  /// - Parameter path: `photos/INBOX/CONVERSATION/MESSAGE`.
  func remove(_ path: String, isWhole: Bool) throws {
    guard let place = Self.place(path) else { return }
    do {
      guard isWhole else { return try root.directory(at: place).remove(Self.original) }
      let names = place.split(separator: "/").map(String.init)
      let inbox = try root.directory(names[0])
      try inbox.directory(names[1]).removeTree(names[2])
      // Directories above go with their last entry.
      if (try? inbox.removeEmpty(names[1])) != nil { try? root.removeEmpty(names[0]) }
    } catch let error as FileError {
      // A photo that is just being fetched again fills it meanwhile.
      if !error.isMissing && error.code != ENOTEMPTY { throw error }
    }
  }

  /// When somebody last read what would be evicted of a photo; nil when nothing is there.
  func lastRead(_ path: String, isWhole: Bool) throws -> Timestamp? {
    guard let place = Self.place(path) else { return nil }
    do {
      let directory = try root.directory(at: place)
      let times = try (isWhole ? Self.thumbnails : [Self.original]).compactMap { try directory.entry($0)?.accessed }
      return times.max().map { Timestamp(milliseconds: $0 / 1_000_000) }
    } catch let error as FileError {
      if error.isMissing { return nil }
      throw error
    }
  }

  /// What is there of a photo.
  func look(_ path: String) throws -> (original: Bool, thumbnails: Bool) {
    guard let place = Self.place(path) else { return (false, false) }
    do {
      let directory = try root.directory(at: place)
      return (
        try directory.entry(Self.original) != nil,
        try Self.thumbnails.contains { try directory.entry($0) != nil }
      )
    } catch let error as FileError {
      if error.isMissing { return (false, false) }
      throw error
    }
  }

  /// `INBOX/CONVERSATION/MESSAGE` of a path of the ledger; nil when it is none.
  private static func place(_ path: String) -> String? {
    let names = path.split(separator: "/", omittingEmptySubsequences: false)
    guard names.count == 4, names[0] == "photos" else { return nil }
    return names.dropFirst().joined(separator: "/")
  }
}
