import Glibc

/// A socket with a full queue, so that the kernel accepts no connection.
final class FullListener {
  let port: UInt16
  private var sockets: [Int32]

  init() throws {
    let listener = try Self.bound()
    guard listen(listener, 0) == 0 else { throw ListenerError() }
    sockets = [listener]
    port = try Self.port(of: listener)
    for _ in 0..<8 {
      let client = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_NONBLOCK.rawValue), 0)
      var address = Self.loopback(port)
      let size = socklen_t(MemoryLayout<sockaddr_in>.size)
      withUnsafePointer(to: &address) { pointer in
        pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { _ = connect(client, $0, size) }
      }
      sockets.append(client)
    }
  }

  deinit { for socket in sockets { close(socket) } }

  fileprivate static func bound() throws -> Int32 {
    let file = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    var address = loopback(0)
    let size = socklen_t(MemoryLayout<sockaddr_in>.size)
    let result = withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(file, $0, size) }
    }
    guard file >= 0, result == 0 else { throw ListenerError() }
    return file
  }

  private static func loopback(_ port: UInt16) -> sockaddr_in {
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
    return address
  }

  fileprivate static func port(of file: Int32) throws -> UInt16 {
    var address = sockaddr_in()
    var size = socklen_t(MemoryLayout<sockaddr_in>.size)
    let result = withUnsafeMutablePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(file, $0, &size) }
    }
    guard result == 0 else { throw ListenerError() }
    return UInt16(bigEndian: address.sin_port)
  }
}

/// A port that is taken, and where nobody listens: it refuses connections, and no other test gets it.
final class ClosedPort {
  let port: UInt16
  private let socket: Int32

  init() throws {
    socket = try FullListener.bound()
    port = try FullListener.port(of: socket)
  }

  deinit { close(socket) }
}

struct ListenerError: Error {}
