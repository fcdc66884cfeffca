import Glibc

/// A listening TCP socket on loopback: one that a service manager opened, or a new one.
package struct ListeningSocket: Sendable {
  package let descriptor: Int32
  package let port: UInt16

  /// The first descriptor of a service manager (sd_listen_fds(3)).
  private static let firstInherited: Int32 = 3
  private static let backlog: Int32 = 256
  /// The argument of a program that does not end by itself.
  package static let stays = "--stay"

  /// The socket that a service manager passed to this process; nil without one.
  ///
  /// - Throws: `WebError` if it is not exactly one on a loopback address.
  package static func inherited(environment: [String: String]) throws(WebError) -> ListeningSocket? {
    guard let process = environment["LISTEN_PID"].flatMap(Int32.init), process == getpid(),
      let count = environment["LISTEN_FDS"].flatMap(Int.init), count > 0
    else { return nil }
    guard count == 1 else { throw WebError("there are \(count) listening sockets; configure one in the socket unit") }
    return try ListeningSocket(listeningAt: firstInherited)
  }

  /// Binds a port of 127.0.0.1; 0 is a free one.
  package init(port: UInt16) throws(WebError) {
    let descriptor = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    guard descriptor >= 0 else { throw WebError("cannot open a socket: \(reason)") }
    var one: Int32 = 1
    setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &one, socklen_t(MemoryLayout<Int32>.size))
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = INADDR_LOOPBACK.bigEndian
    let bound = withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        Glibc.bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
    guard bound == 0, Glibc.listen(descriptor, Self.backlog) == 0 else {
      let fault = reason
      close(descriptor)
      throw WebError("cannot listen on 127.0.0.1 port \(port): \(fault); choose another port with --port")
    }
    try self.init(listeningAt: descriptor)
  }

  /// Replaces this process by `program`, which inherits the socket as that of a service manager.
  ///
  /// - Throws: if the program cannot be started.
  package func become(_ program: String, environment: [String: String]) throws(WebError) -> Never {
    // The duplicate is not closed by exec(3), even if it has the same number.
    let copy = fcntl(descriptor, F_DUPFD, Self.firstInherited)
    if copy != Self.firstInherited { dup2(descriptor, Self.firstInherited) }
    let inherited = environment.merging(["LISTEN_PID": "\(getpid())", "LISTEN_FDS": "1"]) { $1 }
    let variables = inherited.map { "\($0)=\($1)" }
    var arguments: [UnsafeMutablePointer<CChar>?] = [strdup(program), strdup(Self.stays), nil]
    var values = variables.map { strdup($0) } + [nil]
    execve(program, &arguments, &values)
    throw WebError("cannot start \(program): \(reason); install photospool-web")
  }

  private init(listeningAt descriptor: Int32) throws(WebError) {
    var address = sockaddr_in()
    var size = socklen_t(MemoryLayout<sockaddr_in>.size)
    let known = withUnsafeMutablePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(descriptor, $0, &size) }
    }
    guard known == 0, address.sin_family == sa_family_t(AF_INET),
      UInt32(bigEndian: address.sin_addr.s_addr) == INADDR_LOOPBACK
    else { throw WebError("the page listens on 127.0.0.1 only; correct ListenStream in the socket unit") }
    self.descriptor = descriptor
    port = UInt16(bigEndian: address.sin_port)
  }
}

/// Why the page cannot start: one sentence.
package struct WebError: Error, CustomStringConvertible {
  package let description: String

  package init(_ description: String) { self.description = description }
}

private var reason: String { String(cString: strerror(errno)) }
