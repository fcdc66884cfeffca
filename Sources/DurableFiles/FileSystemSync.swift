import CKernel
import Glibc
import Synchronization

/// The sync of a whole file system in one call: many small files then share what would be a wait for the disk for each.
///
/// syncfs(2) also writes what others have written to that file system. So it is not asked while so much of it waits that each
/// small file is synced sooner by itself: a copy of gigabytes to a slow card must hold nobody up.
///
/// The kernel tells a descriptor of the errors since its opening, once, and not of which file. So one descriptor is there from
/// the start of the program, for all who ask, and when it has heard of an error it is never asked again: from there on every
/// file is synced by itself.
package final class FileSystemSync: Sendable {
  private let descriptor: Mutex<Int32?>

  /// From this many requests on, one sync of the file system replaces the syncs of each.
  static let crowd = 16
  /// Bytes for each request that may wait for a disk: written in about the time that its own syncs take.
  static let bytesPerRequest = 256_000

  /// - Returns: nil where a file system or kernel does not promise that all is on the disk then, or does not tell of errors.
  package init?(of directory: Directory) throws(FileError) {
    guard ckernel_syncs_whole(directory.descriptor) == 1 else { return nil }
    let own = openat(directory.descriptor, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard own >= 0 else { throw FileError("open", directory.path) }
    descriptor = Mutex(own)
  }

  deinit { descriptor.withLock { _ = $0.map { close($0) } } }

  /// Whether a sync of everything takes less time than one of each of so many requests by itself.
  package func isQuick(for count: Int) -> Bool {
    guard count >= Self.crowd, let waiting = Self.waiting() else { return false }
    return Self.isQuick(for: count, waiting: waiting)
  }

  /// - Parameter waiting: bytes in all of the machine's memory that wait for a disk.
  static func isQuick(for count: Int, waiting: Int) -> Bool {
    count >= crowd && waiting <= count * bytesPerRequest
  }

  /// Waits until all that was written to the file system is on the disk: bytes, names and sizes.
  ///
  /// - Returns: false when anything could not be written, by any program, since the start of this one. Each file has to be
  ///   synced by itself then: its descriptor reports its own error. Errors from before that start are not reported here;
  ///   `File.checkWritten` asks the files for them.
  package func sync() -> Bool {
    descriptor.withLock { descriptor in
      guard let open = descriptor else { return false }
      if ckernel_sync_whole(open) == 0 { return true }
      close(open)
      descriptor = nil
      return false
    }
  }

  /// Bytes in all of the machine's memory that wait for a disk.
  private static func waiting() -> Int? {
    guard let bytes = try? File(reading: "/proc/meminfo").bytes(from: 0, count: 4096) else { return nil }
    return waiting(in: String(decoding: bytes, as: UTF8.self))
  }

  /// Bytes that wait for a disk, as /proc/meminfo has them: the sum of the lines `Dirty` and
  /// `Writeback`, which are in units of 1,024 bytes; nil when one is missing.
  static func waiting(in information: String) -> Int? {
    var sum = 0
    // Bytes, not characters: this is asked for every crowd.
    let lines = information.utf8.split(separator: UInt8(ascii: "\n"))
    for name in ["Dirty:", "Writeback:"] {
      let words = lines.first { $0.starts(with: name.utf8) }?.split(separator: UInt8(ascii: " "))
      guard let number = words?.dropFirst().first.flatMap({ Int(Substring($0)) }) else { return nil }
      sum += number * 1024
    }
    return sum
  }
}
