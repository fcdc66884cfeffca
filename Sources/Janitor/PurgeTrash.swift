import DurableFiles
import Foundation
import Spooling

/// Where what is purged lies between the rename that takes it away and its deletion.
final class PurgeTrash {
  private let directory: Directory
  private var changed = [Directory]()

  init(_ spool: Spool) throws { directory = try spool.state.directory(creating: Purge.trashName) }

  /// Takes an entry away; false when there is none.
  ///
  /// - Parameter identity: which directory it has to be; nil is any.
  @discardableResult
  func take(_ name: String, from place: Directory, identity: RequestIdentity? = nil) throws -> Bool {
    // Its own name may tell something, and stands nowhere any more.
    let parked = UUID().uuidString
    do {
      guard try place.entry(name) != nil else { return false }
      _ = try place.move(name, to: directory, as: parked)
    } catch {
      if error.isMissing { return false }
      throw error
    }
    if let identity, let moved = try directory.entry(parked), RequestIdentity(moved) != identity {
      // Another one was put in its place after our look; that one stays.
      _ = try directory.move(parked, to: place, as: name)
      return false
    }
    if !changed.contains(where: { $0 === place }) { changed.append(place) }
    return true
  }

  /// Takes away what was found, unless another one has its name by now.
  func take(_ found: RequestsOf.Found, from place: Directory) throws {
    try take(found.name, from: place, identity: found.identity)
  }

  /// Deletes what was taken, and what a former purge left there. When it returns it is gone from the disk, and so are the
  /// names that it had. What cannot be deleted is no reason to keep the rest.
  func empty() async throws {
    for place in changed { try place.sync() }
    changed = []
    let names = try directory.names()
    var failure: (any Error)?
    for name in names {
      do { try await delete(name) } catch { failure = error }
    }
    if !names.isEmpty { try directory.sync() }
    if let failure { throw failure }
  }

  private func delete(_ name: String) async throws {
    if try directory.entry(name)?.kind == .directory {
      let below = try directory.directory(name)
      _ = try await ConcurrentMap.map(below.names()) { try below.removeTree($0) }
    }
    try directory.removeTree(name)
  }
}
