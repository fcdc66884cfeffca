import Glibc

/// The service manager, which gets notifications over the socket in `NOTIFY_SOCKET`, as from systemd: datagrams of
/// lines `NAME=value`. Nothing blocks; a message that cannot be sent at once is dropped.
package final class ServiceManager: Sendable {
  private let descriptor: Int32
  private let address: sockaddr_un
  private let length: socklen_t
  /// The watchdog's timeout in seconds; nil without one.
  package let patience: Double?

  /// The service manager of the environment; nil if there is none or it cannot be reached.
  ///
  /// - Parameter process: this process, compared with the watchdog's target.
  package init?(environment: [String: String], process: Int32 = getpid()) {
    guard let path = environment["NOTIFY_SOCKET"], let first = path.utf8.first else { return nil }
    var bytes = Array(path.utf8)
    var address = sockaddr_un()
    // An abstract name has a length; a path ends with a zero.
    let isAbstract = first == UInt8(ascii: "@")
    guard isAbstract || first == UInt8(ascii: "/") else { return nil }
    if isAbstract { bytes[0] = 0 } else { bytes.append(0) }
    guard bytes.count <= MemoryLayout.size(ofValue: address.sun_path) else { return nil }
    address.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
    descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    guard descriptor >= 0 else { return nil }
    self.address = address
    length = socklen_t(MemoryLayout<sa_family_t>.size + bytes.count)
    let isMeant = environment["WATCHDOG_PID"].map { $0 == String(process) } ?? true
    let microseconds = environment["WATCHDOG_USEC"].flatMap(UInt64.init) ?? 0
    patience = isMeant && microseconds > 0 ? Double(microseconds) / 1e6 : nil
  }

  deinit { close(descriptor) }

  package func ready(_ status: String) { send("READY=1\n\(Self.line(status))") }

  /// Reports a reload; `ready` ends it.
  package func reloading() {
    var now = timespec()
    clock_gettime(CLOCK_MONOTONIC, &now)
    send("RELOADING=1\nMONOTONIC_USEC=\(now.tv_sec * 1_000_000 + now.tv_nsec / 1000)")
  }

  package func stopping() { send("STOPPING=1\nSTATUS=Stopping.") }

  /// Reports one line of status for people.
  package func status(_ status: String) { send(Self.line(status)) }

  package func isAlive() { send("WATCHDOG=1") }

  private static func line(_ status: String) -> String {
    "STATUS=" + String(status.unicodeScalars.map { $0.properties.generalCategory == .control ? " " : Character($0) })
  }

  private func send(_ text: String) {
    var address = address
    _ = withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
        Array(text.utf8).withUnsafeBytes {
          sendto(
            descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL) | Int32(MSG_DONTWAIT), pointer, length)
        }
      }
    }
  }
}
