import DurableFiles
import Foundation
import Spooling

/// Where what is purged lies between the rename that takes it away and its deletion.
final class PurgeTrash {
  private let directory: Directory
  private var changed = [Directory]()

  init(_ spool: Spool) throws { directory = try spool.state.directory(creating: Purge.trashName) }

  /// Takes an entry away; false when there is none.
  @discardableResult
  func take(_ name: String, from place: Directory) throws -> Bool {
    do {
      guard try place.entry(name) != nil else { return false }
      // Its own name may tell something, and stands nowhere any more.
      _ = try place.move(name, to: directory, as: UUID().uuidString)
    } catch {
      if error.isMissing { return false }
      throw error
    }
    if !changed.contains(where: { $0 === place }) { changed.append(place) }
    return true
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
      _ = try await ManyHands.map(below.names()) { try below.removeTree($0) }
    }
    try directory.removeTree(name)
  }
}
