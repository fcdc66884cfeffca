import DurableFiles
import Foundation
import Spooling

/// The directory of purged entries, between their rename and their deletion.
final class PurgeTrash {
  private let directory: Directory
  private var changed = [Directory]()

  init(_ spool: Spool) throws { directory = try spool.state.directory(creating: Purge.trashName) }

  /// Takes an entry; false if there is none.
  ///
  /// - Parameter identity: the directory's identity; nil for any.
  @discardableResult
  func take(_ name: String, from place: Directory, identity: RequestIdentity? = nil) throws -> Bool {
    // The name may be confidential and must not stay anywhere.
    let parked = UUID().uuidString
    do {
      guard try place.entry(name) != nil else { return false }
      _ = try place.move(name, to: directory, as: parked)
    } catch {
      if error.isMissing { return false }
      throw error
    }
    if let identity, let moved = try directory.entry(parked), RequestIdentity(moved) != identity {
      // Another entry replaced it since the check; it goes back.
      _ = try directory.move(parked, to: place, as: name)
      return false
    }
    if !changed.contains(where: { $0 === place }) { changed.append(place) }
    return true
  }

  /// Takes a found entry, unless another one has its name by now.
  func take(_ found: RequestsOf.Found, from place: Directory) throws {
    try take(found.name, from: place, identity: found.identity)
  }

  /// Deletes all entries, also of an interrupted purge, and syncs. An entry that cannot be deleted does not stop the
  /// rest.
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
