import Digests
import DurableFiles
import Glibc
import Messages

/// The photo cache `photos/INBOX/CONVERSATION/MESSAGE/`, for sent and received photos. Paths of photos in the ledger are
/// relative to the spool.
package struct PhotoCache: Sendable {
  private let root: Directory

  package static let originalName = "original.jpg"
  private static let blurredName = "blurred.jpg"
  package static let thumbnailNames = ["thumbnail.jpg", blurredName]
  private static let names = [originalName] + thumbnailNames

  package init(_ spool: Spool) { root = spool.photos }

  /// Writes the photo, its thumbnail and its blurred preview durably. Files of an earlier attempt are replaced.
  ///
  /// Order: the note, then each file under a temporary name, synced, renamed; then the message's directory is synced.
  /// The directories above are synced when they are made. The janitor removes empty ones; one that it removes at this
  /// moment is made again.
  ///
  /// - Parameter note: for a received photo.
  package func keep(
    original: [UInt8], thumbnail: [UInt8], blurred: [UInt8], at place: PhotoPlace, note: ReceivedNote? = nil
  ) throws {
    let directory = try directory(place)
    if let note { try directory.write(note.bytes(), as: ReceivedNote.fileName) }
    try directory.write(original, as: Self.originalName)
    for (name, bytes) in zip(Self.thumbnailNames, [thumbnail, blurred]) { try directory.write(bytes, as: name) }
    try directory.sync()
  }

  private func directory(_ place: PhotoPlace, attempts: Int = 8) throws -> Directory {
    do {
      return try root.directory(creating: place.inbox.fileName)
        .directory(creating: place.conversation.fileName)
        .directory(creating: place.message.text)
    } catch {
      guard error.isMissing && attempts > 1 else { throw error }
      return try directory(place, attempts: attempts - 1)
    }
  }

  private func existing(_ path: String) throws(FileError) -> Directory? {
    do { return try directory(at: path) } catch {
      if error.isMissing { return nil }
      throw error
    }
  }

  /// Whether all files of the photo are there, with the note of a received one.
  package func isWhole(_ place: PhotoPlace, hasNote: Bool) throws -> Bool {
    guard let directory = try existing(place.path) else { return false }
    let names = Self.names + (hasNote ? [ReceivedNote.fileName] : [])
    return try names.allSatisfy { try directory.entry($0)?.kind == .file }
  }

  /// The path of a photo's original or blurred preview, relative to the spool; nil if it is not there.
  package func path(_ place: PhotoPlace, isBlurred: Bool) throws -> String? {
    let name = isBlurred ? Self.blurredName : Self.originalName
    guard try existing(place.path)?.entry(name)?.kind == .file else { return nil }
    return "\(place.path)/\(name)"
  }

  /// A file of the cache; nil if it is not there.
  package func file(_ name: String, at place: PhotoPlace) throws -> File? {
    guard Self.names.contains(name) else { return nil }
    let path = try Self.names(in: place.path).joined(separator: "/")
    do { return try root.file(at: "\(path)/\(name)") } catch {
      if error.isMissing { return nil }
      throw error
    }
  }

  package func original(at place: PhotoPlace) throws -> File {
    try directory(at: place.path).file(Self.originalName)
  }

  /// Removes the files of a photo, if any.
  package func discard(_ place: PhotoPlace) throws { try remove(place.path, isWhole: true) }

  /// Removes a photo's original, or with `isWhole` all its files, if they exist.
  package func remove(_ path: String, isWhole: Bool) throws {
    do {
      guard isWhole else { return try directory(at: path).remove(Self.originalName) }
      let names = try Self.names(in: path)
      let inbox = try root.directory(names[0])
      try inbox.directory(names[1]).removeTree(names[2])
      // Parent directories go with their last entry.
      if (try? inbox.removeEmpty(names[1])) != nil { try? root.removeEmpty(names[0]) }
    } catch let error as FileError {
      // A photo that is being fetched again may fill the directory meanwhile.
      if !error.isMissing && error.code != ENOTEMPTY { throw error }
    }
  }

  package func look(_ path: String) throws -> (original: Bool, thumbnails: Bool) {
    guard let directory = try existing(path) else { return (false, false) }
    return (
      try directory.entry(Self.originalName) != nil,
      try Self.thumbnailNames.contains { try directory.entry($0) != nil }
    )
  }

  private func directory(at path: String) throws(FileError) -> Directory {
    try root.directory(at: Self.names(in: path).joined(separator: "/"))
  }

  /// Inbox, conversation and message of a path. Others count as missing.
  private static func names(in path: String) throws(FileError) -> [String] {
    let names = path.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
    guard names.count == 4, names[0] == "photos" else { throw FileError("open", path, code: ENOENT) }
    return Array(names.dropFirst())
  }
}

extension PhotoPlace {
  /// Its directory, relative to the spool.
  package var path: String { "photos/\(inbox.fileName)/\(conversation.fileName)/\(message)" }
}
