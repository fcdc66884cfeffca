import Dispatch
import Glibc

package final class NotifySocket: Sendable {
  private let descriptor: Int32

  /// Listens at a path, or at an abstract name that begins with `@`.
  package init(_ name: String) throws {
    descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    var bytes = Array(name.utf8)
    if bytes.first == UInt8(ascii: "@") { bytes[0] = 0 }
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
    let length = socklen_t(MemoryLayout<sa_family_t>.size + bytes.count)
    let status = withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(descriptor, $0, length) }
    }
    if status != 0 { throw BindError(code: errno) }
    // A missing message fails the test instead of blocking it.
    var time = timeval(tv_sec: 120, tv_usec: 0)
    setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &time, socklen_t(MemoryLayout<timeval>.size))
  }

  deinit { close(descriptor) }

  package struct BindError: Error {
    let code: Int32
  }

  /// The next message; "" without one. Waits on a thread of its own.
  package func receive() async -> String {
    await withCheckedContinuation { continuation in
      DispatchQueue(label: "notify").async { continuation.resume(returning: self.next()) }
    }
  }

  private func next() -> String {
    var buffer = [UInt8](repeating: 0, count: 4096)
    let count = recv(descriptor, &buffer, buffer.count, 0)
    return String(decoding: buffer.prefix(max(0, count)), as: UTF8.self)
  }
}
