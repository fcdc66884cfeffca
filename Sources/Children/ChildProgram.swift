import CKernel
import Glibc
import Messages

/// A program to be started, with nothing of this process but what is given here.
package struct ChildProgram: Sendable {
  package let path: String
  package let arguments: [String]
  /// `NAME=VALUE`; nothing of our own environment is passed on.
  package let environment: [String]
  /// Whether its directory is `/`, and not that of this process. Its path has to be absolute then.
  package let beginsInRoot: Bool

  package init(path: String, arguments: [String] = [], environment: [String] = [], beginsInRoot: Bool = false) {
    self.path = path
    self.arguments = arguments
    self.environment = environment
    self.beginsInRoot = beginsInRoot
  }

  /// Starts it, in a process group of its own, so that a terminal's interrupt ends us first and a kill of the group
  /// reaches all that it started. Its signals are as they are by default.
  ///
  /// - Parameter descriptors: what it finds as its descriptors 0, 1, 2 …; nil is `/dev/null`. None is closed here.
  /// - Returns: its number, which has to be waited for.
  /// - Throws: `config_error` when there is no such program; `local_resources` when the kernel has no room for it.
  package func start(_ descriptors: [Int32?]) throws(DeliveryError) -> pid_t {
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    for (number, descriptor) in descriptors.enumerated() {
      if let descriptor {
        posix_spawn_file_actions_adddup2(&actions, descriptor, Int32(number))
      } else {
        posix_spawn_file_actions_addopen(&actions, Int32(number), "/dev/null", O_RDWR, 0)
      }
    }
    // Ours are closed by the exec anyway; a library's may not be.
    ckernel_close_from(&actions, Int32(descriptors.count))
    if beginsInRoot { ckernel_begin_in_root(&actions) }
    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    var signals = sigset_t()
    sigfillset(&signals)
    posix_spawnattr_setsigdefault(&attributes, &signals)
    sigemptyset(&signals)
    posix_spawnattr_setsigmask(&attributes, &signals)
    posix_spawnattr_setflags(
      &attributes, Int16(POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETPGROUP))
    var words = ([path] + arguments).map { strdup($0) } + [nil]
    var variables = environment.map { strdup($0) } + [nil]
    defer { for text in words + variables { free(text) } }
    var child: pid_t = 0
    let error = posix_spawn(&child, path, &actions, &attributes, &words, &variables)
    guard error == 0 else { throw failure(error) }
    return child
  }

  /// Two ends of a line, one for each side; the child's is closed here once it is started.
  ///
  /// - Throws: `local_resources`.
  package func line() throws(DeliveryError) -> (ours: Int32, theirs: Int32) {
    var ends: [Int32] = [-1, -1]
    guard socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0, &ends) == 0 else {
      throw failure(errno)
    }
    return (ends[0], ends[1])
  }

  func failure(_ error: Int32) -> DeliveryError {
    let words = String(cString: strerror(error))
    return [ENOENT, EACCES, ELOOP, ENOEXEC, ENOTDIR, EPERM].contains(error)
      ? DeliveryError(.configError, "\(path) cannot be started: \(words); is it installed?")
      : DeliveryError(.localResources, "there is no room for another process: \(words)")
  }
}
