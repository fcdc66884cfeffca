import DurableFiles
import Foundation

/// A request's directory that was renamed away and will be deleted. The next start deletes what a crash leaves.
package struct TrashedRequest: Sendable {
  /// Its parent in `state/`.
  package static let directoryName = "trash"
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
  ) throws -> TrashedRequest? {
    guard RequestName(name) != nil, let entry = try directory.entry(name), entry.kind == .directory else { return nil }
    let found = RequestIdentity(entry)
    if let identity, found != identity { return nil }
    let trash = try state.directory(creating: TrashedRequest.directoryName)
    let parked = "\(name)-\(UUID().uuidString)"
    do {
      _ = try directory.move(name, to: trash, as: parked)
    } catch {
      if error.isMissing { return nil }
      throw error
    }
    if let moved = try trash.entry(parked), RequestIdentity(moved) != found {
      // The client replaced it between the check and the rename; the new one goes back.
      _ = try trash.move(parked, to: directory, as: name)
      return nil
    }
    try directory.sync()
    return TrashedRequest(trash: trash, name: parked, identity: found)
  }
}
