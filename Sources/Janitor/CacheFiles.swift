import DurableFiles
import Glibc
import Spooling

/// Cached files, by the paths in the ledger.
struct CacheFiles: Sendable {
  private let root: Directory

  static let original = PhotoCache.originalName
  static let thumbnails = PhotoCache.thumbnailNames
  /// The note of a received photo, which is deleted with the last of its files.
  static let note = ReceivedNote.fileName

  init(_ spool: Spool) { root = spool.photos }

  /// Removes a photo's original, or with `isWhole` all its files, if they exist.
  ///
  /// - Parameter path: `photos/INBOX/CONVERSATION/MESSAGE`.
  func remove(_ path: String, isWhole: Bool) throws {
    guard let place = Self.place(path) else { return }
    do {
      guard isWhole else { return try root.directory(at: place).remove(Self.original) }
      let names = place.split(separator: "/").map(String.init)
      let inbox = try root.directory(names[0])
      try inbox.directory(names[1]).removeTree(names[2])
      // Parent directories go with their last entry.
      if (try? inbox.removeEmpty(names[1])) != nil { try? root.removeEmpty(names[0]) }
    } catch let error as FileError {
      // A photo that is being fetched again may fill the directory meanwhile.
      if !error.isMissing && error.code != ENOTEMPTY { throw error }
    }
  }

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

  /// `INBOX/CONVERSATION/MESSAGE` of a path in the ledger; nil for other paths.
  private static func place(_ path: String) -> String? {
    let names = path.split(separator: "/", omittingEmptySubsequences: false)
    guard names.count == 4, names[0] == "photos" else { return nil }
    return names.dropFirst().joined(separator: "/")
  }
}
