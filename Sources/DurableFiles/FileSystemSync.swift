import CKernel
import Glibc
import Synchronization

/// Syncs a whole filesystem in one call, which many small files share.
///
/// syncfs(2) also writes the data of other programs. It is skipped while so much is dirty that single syncs are faster.
///
/// The kernel reports each error once per descriptor, without naming the file. So one descriptor is opened at start and
/// used by all. After an error it is never used again, and every file is synced by itself.
package final class FileSystemSync: Sendable {
  private let descriptor: Mutex<Int32?>

  /// The number of requests from which one sync of the filesystem replaces single ones.
  static let crowd = 16
  /// The dirty bytes allowed per request, written in about the time of its own syncs.
  static let bytesPerRequest = 256_000

  /// - Returns: nil if the filesystem or kernel does not guarantee the sync, or does not report errors.
  package init?(of directory: Directory) throws(FileError) {
    guard ckernel_syncs_whole(directory.descriptor) == 1 else { return nil }
    let own = openat(directory.descriptor, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard own >= 0 else { throw FileError("open", directory.path) }
    descriptor = Mutex(own)
  }

  deinit { descriptor.withLock { _ = $0.map { close($0) } } }

  /// Whether one sync is faster than single syncs for `count` requests.
  package func isQuick(for count: Int) -> Bool {
    guard count >= Self.crowd, let waiting = Self.waiting() else { return false }
    return Self.isQuick(for: count, waiting: waiting)
  }

  /// - Parameter waiting: dirty bytes in the whole machine.
  static func isQuick(for count: Int, waiting: Int) -> Bool {
    count >= crowd && waiting <= count * bytesPerRequest
  }

  /// Syncs the filesystem: bytes, names and sizes. Returns false if any program's data could not be written since this
  /// one started. Sync each file by itself then; its descriptor reports its own error. Earlier errors are not reported
  /// here; see `File.checkWritten`.
  package func sync() -> Bool {
    descriptor.withLock { descriptor in
      guard let open = descriptor else { return false }
      if ckernel_sync_whole(open) == 0 { return true }
      close(open)
      descriptor = nil
      return false
    }
  }

  /// Dirty bytes in the whole machine.
  private static func waiting() -> Int? {
    guard let bytes = try? File(reading: "/proc/meminfo").bytes(from: 0, count: 4096) else { return nil }
    return waiting(in: String(decoding: bytes, as: UTF8.self))
  }

  /// Dirty bytes in /proc/meminfo: the sum of `Dirty` and `Writeback`, in units of 1,024 bytes; nil if one is missing.
  static func waiting(in information: String) -> Int? {
    var sum = 0
    // Bytes, not characters, because this runs for every batch.
    let lines = information.utf8.split(separator: UInt8(ascii: "\n"))
    for name in ["Dirty:", "Writeback:"] {
      let words = lines.first { $0.starts(with: name.utf8) }?.split(separator: UInt8(ascii: " "))
      guard let number = words?.dropFirst().first.flatMap({ Int(Substring($0)) }) else { return nil }
      sum += number * 1024
    }
    return sum
  }
}
