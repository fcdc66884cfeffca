import CKernel
import Dispatch
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
public final class FileSystemSync: Sendable {
  private let descriptor: Mutex<Int32?>
  private let pace = Mutex(SyncPace())
  /// Whether a sync is under way for which nobody waits.
  private let isCatchingUp = Atomic(false)

  /// - Returns: nil where a file system or kernel does not promise that all is on the disk then, or does not tell of errors.
  public init?(of directory: Directory) throws(FileError) {
    guard ckernel_syncs_whole(directory.descriptor) == 1 else { return nil }
    let own = openat(directory.descriptor, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard own >= 0 else { throw FileError("open", directory.path) }
    descriptor = Mutex(own)
  }

  deinit { descriptor.withLock { _ = $0.map { close($0) } } }

  /// Whether a sync of everything takes less time than one of each of so many requests by itself.
  public func isQuick(for count: Int) -> Bool {
    guard count >= SyncPace.crowd, !isCatchingUp.load(ordering: .acquiring), let waiting = Self.waiting() else {
      return false
    }
    return pace.withLock { pace in
      pace.look(at: waiting)
      return pace.isQuick(for: count, waiting: waiting)
    }
  }

  /// Has everything written meanwhile, where so many are synced one by one because too much waits, and that takes a few
  /// seconds: left to itself the kernel takes half a minute. Nobody waits for it.
  ///
  /// - Returns: whether that was begun.
  @discardableResult
  public func catchUp(for count: Int) -> Bool {
    guard count >= SyncPace.crowd, let waiting = Self.waiting(), pace.withLock({ $0.canCatchUp(waiting: waiting) }),
      !isCatchingUp.exchange(true, ordering: .acquiringAndReleasing)
    else { return false }
    DispatchQueue.global(qos: .utility).async { [self] in
      _ = syncAll()
      isCatchingUp.store(false, ordering: .releasing)
    }
    return true
  }

  /// Waits until all that was written to the file system is on the disk: bytes, names and sizes.
  ///
  /// - Returns: false when anything could not be written, by whomever, since the start of the program, and while a sync
  ///   is under way for which nobody waits. What was wanted has to be synced file by file then: the descriptor of each
  ///   hears of its own error. Errors from before that start are not told here, and are asked of the files
  ///   (`File.checkWritten`).
  public func sync() -> Bool {
    // Who asked `isQuick` just before that began would wait for all of it.
    isCatchingUp.load(ordering: .acquiring) ? false : syncAll()
  }

  private func syncAll() -> Bool {
    descriptor.withLock { descriptor in
      guard let open = descriptor else { return false }
      let (before, begin) = (Self.waiting(), ContinuousClock.now)
      guard ckernel_sync_whole(open) == 0 else {
        close(open)
        descriptor = nil
        return false
      }
      let seconds = (ContinuousClock.now - begin) / .seconds(1)
      if let before, let after = Self.waiting() {
        pace.withLock { $0.learn(before: before, after: after, seconds: seconds) }
      }
      return true
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
