import Glibc
import Messages
import Synchronization

/// Root works on another user's spool as that user, so that it leaves no files that the user cannot change.
package enum SpoolUser {
  /// Changes root to the owner of the directory at `path`, for good. Returns false without a change: not root, or
  /// root's own or no directory.
  package static func become(ownerOf path: String) throws -> Bool {
    var status = stat()
    guard geteuid() == 0, stat(path, &status) == 0, status.st_uid != 0 else { return false }
    try become(status.st_uid, group: status.st_gid)
    return true
  }

  /// Changes root to the configured user, who gets a new spool at `path`. Returns false without a change.
  package static func become(_ name: String, spool path: String) throws -> Bool {
    guard geteuid() == 0 else { return false }
    guard let entry = getpwnam(name)?.pointee else {
      throw Failure(.configuration, "spool.user: there is no user \(escaped(name)) on this computer; name another one")
    }
    if mkdir(path, 0o750) == 0, chown(path, entry.pw_uid, entry.pw_gid) != 0 {
      throw Failure(.cannotCreate, "cannot give \(escaped(path)) to the user \(escaped(name)): \(reason)")
    }
    if entry.pw_uid != 0 { try become(entry.pw_uid, group: entry.pw_gid) }
    return entry.pw_uid != 0
  }

  /// - Parameter group: the group of a user without an entry.
  private static func become(_ user: uid_t, group: gid_t) throws {
    let entry = getpwuid(user)?.pointee
    let group = entry?.pw_gid ?? group
    let hasGroups = entry.map { initgroups($0.pw_name, group) } ?? setgroups(0, nil)
    guard hasGroups == 0, setgid(group) == 0, setuid(user) == 0 else {
      throw Failure(.noPermission, "root cannot become the spool's user \(user): \(reason); start it as that user")
    }
    changed.store(true, ordering: .relaxed)
  }

  /// Executes the program again as the new user. The initial thread would stay root's, so that the user could not stop
  /// the process.
  package static func startOver() throws {
    guard hasChanged else { return }
    var none = sigset_t()
    sigemptyset(&none)
    pthread_sigmask(SIG_SETMASK, &none, nil)
    execv("/proc/self/exe", CommandLine.unsafeArgv)
    throw Failure(.noPermission, "cannot start photospool as the spool's user \(name): \(reason); let that user run it")
  }

  private static let changed = Atomic(false)

  package static var hasChanged: Bool { changed.load(ordering: .relaxed) }

  private static var reason: String { String(cString: strerror(errno)) }

  /// The effective user, for sentences.
  package static var name: String { getpwuid(geteuid()).map { String(cString: $0.pointee.pw_name) } ?? "\(geteuid())" }
}
