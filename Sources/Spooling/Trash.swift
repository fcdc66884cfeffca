import DurableFiles
import Foundation

/// `state/trash`: entries that were renamed away and will be deleted. A start and every purge empty it.
package struct Trash: Sendable {
  /// In `state/`.
  package static let directoryName = "trash"
  package let directory: Directory

  /// Opens the trash of a spool, or makes it.
  package init(_ spool: Spool) throws { directory = try spool.state.directory(creating: Self.directoryName) }

  /// Deletes what is in it. The directory stays, because another process may be using it.
  package func empty() throws { for name in try directory.names() { try directory.removeTree(name) } }

  /// Takes an entry away. The name may be confidential and does not stay. Nothing is synced.
  ///
  /// - Parameter isMeant: tells whether it is the wanted entry. One that replaced it since the check goes back.
  /// - Returns: nil if it is not there.
  package func take(
    _ name: String, from place: Directory, where isMeant: (Entry) -> Bool = { _ in true }
  ) throws -> TrashedEntry? {
    let parked = UUID().uuidString
    do { _ = try place.move(name, to: directory, as: parked) } catch {
      if error.isMissing { return nil }
      throw error
    }
    // A purge may have deleted it.
    guard let entry = try directory.entry(parked) else { return nil }
    if isMeant(entry) { return TrashedEntry(trash: directory, name: parked, identity: RequestIdentity(entry)) }
    _ = try directory.move(parked, to: place, as: name)
    return nil
  }
}

/// An entry of the trash.
package struct TrashedEntry: Sendable {
  fileprivate let trash: Directory
  fileprivate let name: String
  package let identity: RequestIdentity

  package func directory() throws -> Directory { try trash.directory(name) }

  package func delete() throws { try trash.removeTree(name) }
}

extension Spool {
  /// Takes a request's directory away from its client and syncs the client's directory. The rename decides whether it
  /// was sent before.
  ///
  /// - Parameter identity: the directory's identity; nil for any.
  /// - Returns: nil if it is not there.
  package func takeAway(
    _ name: String, from directory: Directory, identity: RequestIdentity? = nil
  ) throws -> TrashedEntry? {
    guard RequestName(name) != nil, let entry = try directory.entry(name), entry.kind == .directory else { return nil }
    let found = RequestIdentity(entry)
    if let identity, found != identity { return nil }
    guard let taken = try Trash(self).take(name, from: directory, where: { RequestIdentity($0) == found }) else {
      return nil
    }
    try directory.sync()
    return taken
  }
}
