import DurableFiles
import Glibc
import Synchronization

/// A spool: its directories, opened once. Everything below is reached by descriptor.
package final class Spool: Sendable {
  package let path: String
  package let root: Directory
  package let tmp: Directory
  package let cur: Directory
  package let sent: Directory
  package let failed: Directory
  package let cancel: Directory
  package let purge: Directory
  package let incoming: Directory
  package let photos: Directory
  package let published: Directory
  package let objects: Directory
  package let state: Directory
  /// The filesystem, if it can be synced as a whole.
  package let fileSystem: FileSystemSync?
  private let currentNew: Mutex<Directory>
  private let currentDraft: Mutex<Directory>

  /// The directory where requests arrive. It can be replaced while the daemon runs; see `reopenNew`.
  package var new: Directory { currentNew.withLock { $0 } }

  /// The directory of drafts. It can be replaced, too; see `reopenDraft`.
  package var draft: Directory { currentDraft.withLock { $0 } }

  /// Directories that the group may write to, and those of the daemon alone.
  private static let shared = ["tmp", "draft", "new"]
  private static let own = ["cur", "sent", "failed", "cancel", "purge", "photos", "published", "objects", "state"]
  package static let incomingNames = ["tmp", "new", "cur", "failed"]
  private static let rootMode: mode_t = 0o750

  /// Opens the spool at `path` and makes its missing directories.
  ///
  /// - Throws: `FileError`; `SpoolError` if the spool is open to everybody or on several filesystems.
  package convenience init(creating path: String) throws {
    let isNew = mkdir(path, Self.rootMode) == 0
    if !isNew && errno != EEXIST { throw FileError("make the spool", path) }
    let root = try Directory(path: path)
    // The umask is for the daemon's own directories.
    if isNew { try root.setPermissions(Self.rootMode) }
    if try root.entry().permissions & 0o002 != 0 { throw SpoolError.openToEverybody(path) }
    for name in Self.shared { try root.makeShared(name) { .cannotShare($0) } }
    // In a sticky directory the kernel may let clients open only files of its owner, so the daemon makes their counter.
    let tmp = try root.directory("tmp")
    let counter = try tmp.entry(ArrivalNumber.lockName)
    if counter.map({ $0.kind == .file && $0.owner == geteuid() && $0.permissions != 0o660 }) ?? true {
      try tmp.file(appendingTo: ArrivalNumber.lockName).setPlainPermissions(0o660)
    }
    // With a default ACL the daemon can read what clients build, whatever their umask, and other clients cannot. It
    // fails without ACLs and in directories of others; `check` says so.
    if geteuid() != 0 { for name in Self.shared { try? root.directory(name).grantByDefault(to: geteuid()) } }
    for name in Self.own { _ = try root.make(name) }
    let incoming = try root.directory(creating: "incoming")
    for name in Self.incomingNames { _ = try incoming.make(name) }
    try root.sync()
    try self.init(root: root)
  }

  /// Opens the spool at `path` as a client or a tool; makes nothing.
  package convenience init(opening path: String) throws {
    try self.init(root: Directory(path: path))
  }

  private init(root: Directory) throws {
    self.root = root
    path = Self.absolute(root.path)
    func open(_ name: String) throws -> Directory { try root.directory(ofSpool: name) }
    tmp = try open("tmp")
    cur = try open("cur")
    sent = try open("sent")
    failed = try open("failed")
    cancel = try open("cancel")
    purge = try open("purge")
    incoming = try open("incoming")
    photos = try open("photos")
    published = try open("published")
    objects = try open("objects")
    state = try open("state")
    fileSystem = try FileSystemSync(of: state)
    currentNew = Mutex(try open("new"))
    currentDraft = Mutex(try open("draft"))
  }

  /// Opens `new/` again after it was replaced. Returns false if the open one is still in place.
  package func reopenNew() throws -> Bool { try reopen("new", currentNew) }

  /// Opens `draft/` again after it was replaced. Returns false if the open one is still in place.
  package func reopenDraft() throws -> Bool { try reopen("draft", currentDraft) }

  private func reopen(_ name: String, _ current: borrowing Mutex<Directory>) throws -> Bool {
    let directory = try root.directory(name)
    if try directory.entry().inode == current.withLock({ $0 }).entry().inode { return false }
    current.withLock { $0 = directory }
    return true
  }

  /// The first client directory without a default ACL for the daemon; nil if all have one, or for root.
  ///
  /// - Throws: `FileError` with `EOPNOTSUPP` if the filesystem has no ACLs.
  package func firstWithoutAccess() throws -> Directory? {
    let user = try state.entry().owner
    if user == 0 { return nil }
    return try [tmp, draft, new].first { try !$0.grantsByDefault(to: user) }
  }

  private static func absolute(_ path: String) -> String {
    guard let resolved = realpath(path, nil) else { return path }
    defer { free(resolved) }
    return String(cString: resolved)
  }
}

extension Directory {
  /// Makes a directory that the spool's group may write to, if it is missing.
  ///
  /// - Parameter fault: the error if its permissions cannot be set from here.
  func makeShared(_ name: String, fault: (_ path: String) -> SpoolError) throws {
    guard try make(name, mode: 0o770) else { return }
    // mkdir drops the set-group-id and sticky bits, so they are set separately.
    do { try directory(name).setPermissions(0o3770) } catch {
      guard error.code == EPERM else { throw error }
      // A service may be unable to set the set-group-id bit. The next start must not take the directory for a good one.
      try removeEmpty(name)
      throw fault(path(of: name))
    }
  }

  /// Opens a directory of the spool that this is.
  func directory(ofSpool name: String) throws -> Directory {
    do {
      return try directory(name)
    } catch  where error.isMissing {
      throw SpoolError.notASpool(path, missing: name)
    } catch  where error.code == EXDEV {
      throw SpoolError.severalFilesystems(path(of: name))
    }
  }
}

/// Why a directory cannot be a spool.
package enum SpoolError: Error, Equatable, CustomStringConvertible {
  case openToEverybody(String)
  case notASpool(String, missing: String)
  case severalFilesystems(String)
  case busy(String)
  case cannotShare(String)
  case cannotShareMail(String)
  case full(String)

  package var description: String {
    switch self {
    case .openToEverybody(let path):
      "the spool \(path) can be written by everybody; run `chmod o-w \(path)`"
    case .notASpool(let path, let missing):
      "\(path) is not a complete spool: the directory \(missing) is missing; start `photospool run` there once, or where it runs already "
        + "`mkdir -m 3770 \(path)/\(missing)`, or name another with --spool"
    case .severalFilesystems(let path):
      "\(path) is on another filesystem than the spool; the whole spool has to lie on one"
    case .cannotShare(let path):
      "\(path) cannot be opened to the spool's group from here; run `install -d -m 3770 -o photospool -g photospool \(path)`"
        + " once for each of tmp, draft and new"
    case .cannotShareMail(let path):
      "\(path) cannot be opened to the spool's group from here; run `install -d -m 3770 -o photospool -g photospool \(path)`"
    case .full(let path):
      "less than \(Reserve.bytes >> 20) MiB are free on the disk of \(path), and new requests wait until there is more; make room"
    case .busy(let path):
      "another photospool already runs on \(path); stop it first, or use another spool"
    }
  }
}
