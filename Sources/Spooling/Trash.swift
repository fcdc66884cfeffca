import DurableFiles
import Foundation

/// A request's directory that left its place in one rename and is to be deleted. A start deletes what a crash leaves.
package struct TrashedRequest: Sendable {
  /// In `state/`: where it lies until then.
  package static let directoryName = "trash"
  fileprivate let trash: Directory
  fileprivate let name: String
  package let identity: RequestIdentity

  /// The directory where it lies now.
  package func directory() throws -> Directory { try trash.directory(name) }

  /// Deletes it for good.
  package func delete() throws { try trash.removeTree(name) }
}

extension Spool {
  /// Takes a request's directory away from its client: the rename decides whether it was sent before. The client's
  /// directory is synced.
  ///
  /// - Parameter identity: which directory it has to be; nil is any.
  /// - Returns: nil when it is not there.
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
      // Its client put another one there between our look and our rename; that one stays.
      _ = try trash.move(parked, to: directory, as: name)
      return nil
    }
    try directory.sync()
    return TrashedRequest(trash: trash, name: parked, identity: found)
  }
}
