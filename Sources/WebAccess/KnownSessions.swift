import DurableFiles
import Synchronization

/// Sessions that were read, so that each of many requests does not read the same file again. A changed file is noticed: every
/// change is a rename or sets its times.
final class KnownSessions: Sendable {
  private static let most = 128
  private let known = Mutex([String: (inode: UInt64, changed: Int64, session: WebSession)]())

  /// The session in the file `key`, which has this entry.
  ///
  /// - Parameter read: reads the file; nil if it holds none.
  func session(_ key: String, _ entry: Entry, _ read: () throws -> WebSession?) rethrows -> WebSession? {
    let found = known.withLock { $0[key] }
    if let found, found.inode == entry.inode, found.changed == entry.changed { return found.session }
    guard let session = try read() else { return nil }
    known.withLock { known in
      if known.count >= Self.most { known = [:] }
      known[key] = (entry.inode, entry.changed, session)
    }
    return session
  }
}
