import CKernel
import DurableFiles
import Glibc

/// A Unix socket for one line each way. It closes with its last reference.
final class LocalSocket: Sendable {
  let descriptor: Int32

  private init(descriptor: Int32) { self.descriptor = descriptor }

  deinit { close(descriptor) }

  /// The size limit of a request, in bytes. A longer one ends the connection.
  static let longestRequest = 1 << 20
  /// The size limit of the daemon's reply, which may have a line for each of many conversations.
  static let longestReply = 1 << 24
  /// The time limit for one read or write of a client, in seconds.
  private static let patience = 5

  /// Listens at `name` in `directory`, and replaces the socket file of a dead daemon.
  static func listening(at name: String, in directory: Directory) throws(FileError) -> LocalSocket {
    try directory.remove(name)
    let socket = try make(for: directory.path(of: name))
    try withAddress(name, in: directory) { address, length in
      Glibc.bind(socket.descriptor, address, length) == 0 && chmod(directory.path(of: name), 0o600) == 0
        && listen(socket.descriptor, 16) == 0
    }
    return socket
  }

  /// Connects to the daemon at `name`; nil if none listens.
  ///
  /// - Parameter patience: the time limit of one read or write, in seconds.
  static func connected(
    to name: String, in directory: Directory, patience: Int
  ) throws(FileError) -> LocalSocket? {
    let socket = try make(for: directory.path(of: name))
    socket.limitPatience(to: patience)
    do {
      try withAddress(name, in: directory) { connect(socket.descriptor, $0, $1) == 0 }
    } catch {
      if error.code == ECONNREFUSED || error.isMissing { return nil }
      throw error
    }
    return socket
  }

  /// The next waiting connection, if any.
  func accept() -> LocalSocket? {
    let connection = ckernel_accept(descriptor)
    guard connection >= 0 else { return nil }
    let socket = LocalSocket(descriptor: connection)
    socket.limitPatience(to: Self.patience)
    return socket
  }

  /// All bytes up to the first newline; nil if the other side closed, was too slow or sent too much.
  func readLine(limit: Int) -> [UInt8]? {
    var line = [UInt8]()
    var piece = [UInt8](repeating: 0, count: 4096)
    while line.count < limit {
      let count = recv(descriptor, &piece, piece.count, 0)
      if count < 0 && errno == EINTR { continue }
      guard count > 0 else { return nil }
      if let end = piece[..<count].firstIndex(of: UInt8(ascii: "\n")) { return line + piece[..<end] }
      line += piece[..<count]
    }
    return nil
  }

  /// Whether data or the end arrives within `seconds`.
  func hasAnswer(within seconds: Int) -> Bool {
    var descriptor = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    return poll(&descriptor, 1, Int32(seconds) * 1000) != 0
  }

  /// Writes `line` and a newline; false if the other side is gone.
  func write(line: [UInt8]) -> Bool {
    let bytes = line + [UInt8(ascii: "\n")]
    return ckernel_send_all(descriptor, bytes, bytes.count)
  }

  private func limitPatience(to seconds: Int) {
    var time = timeval(tv_sec: seconds, tv_usec: 0)
    let size = socklen_t(MemoryLayout<timeval>.size)
    setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &time, size)
    setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &time, size)
  }

  private static func make(for path: String) throws(FileError) -> LocalSocket {
    let type = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
    let descriptor = socket(AF_UNIX, type, 0)
    guard descriptor >= 0 else { throw FileError("make the socket", path) }
    return LocalSocket(descriptor: descriptor)
  }

  /// A socket's path may have 107 bytes; the path through our own descriptor is always shorter.
  private static func withAddress(
    _ name: String, in directory: Directory, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Bool
  ) throws(FileError) {
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    let path = Array("\(directory.pathByDescriptor)/\(name)".utf8)
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path) }
    let isDone = withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        body($0, socklen_t(MemoryLayout<sockaddr_un>.size))
      }
    }
    if !isDone { throw FileError("reach the socket", directory.path(of: name)) }
  }
}
