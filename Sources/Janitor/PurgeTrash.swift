import DurableFiles
import Spooling

/// The trash, filled and emptied by a purge.
final class PurgeTrash {
  private let trash: Trash
  private var changed = [Directory]()

  init(_ spool: Spool) throws { trash = try Trash(spool) }

  /// Takes an entry; false if there is none.
  ///
  /// - Parameter identity: the directory's identity; nil for any.
  @discardableResult
  func take(_ name: String, from place: Directory, identity: RequestIdentity? = nil) throws -> Bool {
    let taken = try trash.take(name, from: place) { identity == nil || RequestIdentity($0) == identity }
    if taken != nil, !changed.contains(where: { $0 === place }) { changed.append(place) }
    return taken != nil
  }

  /// Takes a found entry, unless another one has its name by now.
  func take(_ found: RequestsOf.Found, from place: Directory) throws {
    try take(found.name, from: place, identity: found.identity)
  }

  /// Deletes all entries, also those of a killed process, which may name no conversation any more, and syncs. An entry
  /// that cannot be deleted does not stop the rest.
  func empty() async throws {
    for place in changed { try place.sync() }
    changed = []
    try await trash.empty { name, directory in
      if try directory.entry(name)?.kind == .directory {
        let below = try directory.directory(name)
        _ = try await ConcurrentMap.map(below.names()) { try below.removeTree($0) }
      }
      try directory.removeTree(name)
    }
  }
}
