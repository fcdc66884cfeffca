import FoundationEssentials
import Glibc
import Messages

/// The line that a server sends to every new connection, before TLS and before the token.
struct Greeting: Decodable, Equatable {
  let version: String
  let jetstream: Bool?
  /// A server's greeting. Blocks for two seconds at most, and for as long as the name's lookup takes.
  ///
  /// - Returns: nil if no server answers, or if it begins with TLS.
  static func of(_ address: NATSAddress) -> Greeting? {
    guard let socket = connected(to: address) else { return nil }
    defer { close(socket) }
    let end = ContinuousClock.now + .seconds(2)
    var line: [UInt8] = []
    while line.count < 65_536, ContinuousClock.now < end, wait(for: POLLIN, on: socket, until: end) {
      var piece = [UInt8](repeating: 0, count: 4096)
      let count = recv(socket, &piece, piece.count, 0)
      guard count > 0 else { return nil }
      line += piece[..<count]
      if let length = line.firstIndex(of: UInt8(ascii: "\r")) { return Greeting(line: line[..<length]) }
    }
    return nil
  }

  init?(line: some Collection<UInt8>) {
    guard line.starts(with: "INFO ".utf8),
      let greeting = try? JSONDecoder().decode(Greeting.self, from: Data(line.dropFirst(5)))
    else { return nil }
    self = greeting
  }

  var versionText: String { escaped(version, limit: 40) }

  /// Whether the version is at least 2.12.3. Earlier ones lost acknowledged messages.
  var isNewEnough: Bool {
    let numbers = version.prefix { $0.isNumber || $0 == "." }.split(separator: ".").map { Int($0) ?? 0 }
    return !numbers.lexicographicallyPrecedes([2, 12, 3])
  }

  private static func connected(to address: NATSAddress) -> Int32? {
    var hints = addrinfo()
    hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
    hints.ai_flags = AI_ADDRCONFIG
    var found: UnsafeMutablePointer<addrinfo>?
    guard getaddrinfo(address.host, "\(address.port)", &hints, &found) == 0 else { return nil }
    defer { freeaddrinfo(found) }
    var next = found
    while let info = next?.pointee {
      next = info.ai_next
      let flags = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
      let descriptor = socket(info.ai_family, flags, info.ai_protocol)
      guard descriptor >= 0 else { continue }
      var error: Int32 = 0
      var size = socklen_t(MemoryLayout<Int32>.size)
      let isConnected =
        connect(descriptor, info.ai_addr, info.ai_addrlen) == 0
        || errno == EINPROGRESS && wait(for: POLLOUT, on: descriptor, until: .now + .seconds(2))
          && getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &error, &size) == 0 && error == 0
      if isConnected { return descriptor }
      close(descriptor)
    }
    return nil
  }

  private static func wait(for event: Int32, on descriptor: Int32, until end: ContinuousClock.Instant) -> Bool {
    var polled = pollfd(fd: descriptor, events: Int16(event), revents: 0)
    let left = max(0, Int32((end - ContinuousClock.now) / .milliseconds(1)))
    return poll(&polled, 1, left) > 0
  }
}
