import CKernel
import Glibc
import Messages

/// A program to start, isolated from this process except for what is given here.
package struct ChildProgram: Sendable {
  package let path: String
  package let arguments: [String]
  /// `NAME=VALUE`, instead of our own environment.
  package let environment: [String]
  /// Whether its directory is `/` and not ours. Its path must be absolute then.
  package let beginsInRoot: Bool

  package init(path: String, arguments: [String] = [], environment: [String] = [], beginsInRoot: Bool = false) {
    self.path = path
    self.arguments = arguments
    self.environment = environment
    self.beginsInRoot = beginsInRoot
  }

  /// Starts the program with default signals in its own process group, so that Ctrl-C reaches us first, and a kill of
  /// the group reaches its children.
  ///
  /// - Parameter descriptors: its descriptors 0, 1, 2 …; nil is `/dev/null`. They are not closed here.
  /// - Returns: its number, which must be waited for.
  /// - Throws: `config_error` if there is no such program; `local_resources` if the kernel cannot start it.
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
    // exec closes ours, but perhaps not those of libraries.
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

  /// A socket pair. Close the child's end here after the start.
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
