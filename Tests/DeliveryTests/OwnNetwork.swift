import CKernel
import Foundation
import Glibc
import TestSupport

/// A network namespace of a test's own, in which nothing is up. It ends with its last reference.
final class OwnNetwork: Sendable {
  /// A socket that watches its routes, for one who closes it.
  let watch: Int32
  private let namespace: Int32

  static let isPermitted: Bool = (try? run(["unshare", "--net", "ip", "link"]))?.status == 0

  /// A namespace is a thread's, and a socket belongs to that of the thread which makes it.
  init() throws {
    let (watch, namespace) = try Self.onThreadOfItsOwn {
      // Swift's Glibc leaves out what is Linux's alone.
      guard let symbol = dlsym(nil, "unshare") else { throw POSIXError(.ENOSYS) }
      let unshare = unsafeBitCast(symbol, to: (@convention(c) (Int32) -> Int32).self)
      let newNetwork: Int32 = 0x4000_0000
      guard unshare(newNetwork) == 0 else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EPERM) }
      return (ckernel_watch_routes(), open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC))
    }
    self.watch = watch
    self.namespace = namespace
  }

  deinit { close(namespace) }

  /// Runs `ip` there, of iproute2.
  func ip(_ words: String) throws {
    let enter = ["nsenter", "--net=/proc/\(getpid())/fd/\(namespace)", "ip"]
    let result = try run(enter + words.split(separator: " ").map(String.init))
    guard result.status == 0 else { throw IPError(description: result.errors) }
  }

  struct IPError: Error, CustomStringConvertible {
    let description: String
  }

  private static func onThreadOfItsOwn<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) throws -> Value
  {
    let (answer, done) = (Box<Value>(), DispatchSemaphore(value: 0))
    Thread {
      answer.value = Result(catching: body)
      done.signal()
    }.start()
    done.wait()
    guard let result = answer.value else { throw POSIXError(.EIO) }
    return try result.get()
  }
}

/// Written before the semaphore is signalled, read after it was waited for.
private final class Box<Value>: @unchecked Sendable {
  var value: Result<Value, any Error>?
}
