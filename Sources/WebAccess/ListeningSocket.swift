import Glibc

/// A listening socket: one that a service manager opened, or a new one.
package struct ListeningSocket: Sendable {
  package let descriptor: Int32
  package let place: Place

  /// Who can connect.
  package enum Place: Sendable, Equatable {
    /// Every user of this computer, on 127.0.0.1. The kernel tells which one.
    case loopback(port: UInt16)
    /// Other computers, too.
    case network(port: UInt16)
    /// A reverse proxy on this computer, on a Unix socket.
    case proxy

    /// nil on a Unix socket.
    package var port: UInt16? {
      switch self {
      case .loopback(let port), .network(let port): port
      case .proxy: nil
      }
    }
  }

  /// The first descriptor of a service manager (sd_listen_fds(3)).
  private static let firstInherited: Int32 = 3
  private static let backlog: Int32 = 256
  /// The argument of a program that does not end by itself.
  package static let stays = "--stay"

  /// The socket that a service manager passed to this process; nil without one.
  ///
  /// - Throws: `WebError` if it is not exactly one.
  package static func inherited(environment: [String: String]) throws(WebError) -> ListeningSocket? {
    guard let process = environment["LISTEN_PID"].flatMap(Int32.init), process == getpid(),
      let count = environment["LISTEN_FDS"].flatMap(Int.init), count > 0
    else { return nil }
    guard count == 1 else { throw WebError("there are \(count) listening sockets; configure one in the socket unit") }
    return try ListeningSocket(listeningAt: firstInherited)
  }

  /// Binds a port of an address of this computer; 0 is a free one.
  ///
  /// - Parameter address: of IPv4 or IPv6, not a name.
  package init(address: String = "127.0.0.1", port: UInt16) throws(WebError) {
    var four = sockaddr_in()
    var six = sockaddr_in6()
    if inet_pton(AF_INET, address, &four.sin_addr) == 1 {
      four.sin_family = sa_family_t(AF_INET)
      four.sin_port = port.bigEndian
      try self.init(binding: four, family: AF_INET, "listen on \(address) port \(port)")
    } else if inet_pton(AF_INET6, address, &six.sin6_addr) == 1 {
      six.sin6_family = sa_family_t(AF_INET6)
      six.sin6_port = port.bigEndian
      try self.init(binding: six, family: AF_INET6, "listen on \(address) port \(port)")
    } else {
      throw WebError("'\(address)' is no IP address of this computer; --address takes one such as 0.0.0.0")
    }
  }

  private init<Address>(binding address: Address, family: Int32, _ act: String) throws(WebError) {
    let descriptor = Glibc.socket(family, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    guard descriptor >= 0 else { throw WebError("cannot open a socket: \(reason)") }
    var one: Int32 = 1
    setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &one, socklen_t(MemoryLayout<Int32>.size))
    let bound = withUnsafePointer(to: address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        Glibc.bind(descriptor, $0, socklen_t(MemoryLayout<Address>.size))
      }
    }
    guard bound == 0, Glibc.listen(descriptor, Self.backlog) == 0 else {
      let fault = reason
      close(descriptor)
      throw WebError("cannot \(act): \(fault); choose another port with --port")
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
    var arguments: [UnsafeMutablePointer<CChar>?] = [strdup(program), strdup(Self.stays), nil]
    var values = inherited.map { strdup("\($0)=\($1)") } + [nil]
    execve(program, &arguments, &values)
    throw WebError("cannot start \(program): \(reason); install photospool-web")
  }

  private init(listeningAt descriptor: Int32) throws(WebError) {
    var storage = sockaddr_storage()
    var size = socklen_t(MemoryLayout<sockaddr_storage>.size)
    let place: Place? = withUnsafeMutablePointer(to: &storage) { pointer in
      let known = pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(descriptor, $0, &size) }
      guard known == 0 else { return nil }
      switch Int32(pointer.pointee.ss_family) {
      case AF_UNIX: return .proxy
      case AF_INET:
        return pointer.withMemoryRebound(to: sockaddr_in.self, capacity: 1) {
          let port = UInt16(bigEndian: $0.pointee.sin_port)
          return UInt32(bigEndian: $0.pointee.sin_addr.s_addr) == INADDR_LOOPBACK
            ? .loopback(port: port) : .network(port: port)
        }
      case AF_INET6:
        return pointer.withMemoryRebound(to: sockaddr_in6.self, capacity: 1) {
          .network(port: UInt16(bigEndian: $0.pointee.sin6_port))
        }
      default: return nil
      }
    }
    guard let place else {
      throw WebError("the page listens on TCP or on a Unix socket; correct ListenStream in the socket unit")
    }
    self.descriptor = descriptor
    self.place = place
  }
}

/// Why the page cannot start: one sentence.
package struct WebError: Error, CustomStringConvertible {
  package let description: String

  package init(_ description: String) { self.description = description }
}

private var reason: String { String(cString: strerror(errno)) }
