import CInotifyTools
import Glibc

/// Hints of the kernel that something in the watched folders changed. They may be missing, as on network mounts.
/// libinotifytools has one descriptor per process: one thread uses it.
struct FolderEvents {
  private static let events = UInt32(IN_CLOSE_WRITE | IN_MOVED_TO | IN_CREATE | IN_ONLYDIR)
  /// More folders are found by walks alone.
  private static let most = 4_096

  private let works: Bool
  private var watched = Set<String>()

  init() { works = inotifytools_initialize() != 0 }

  /// Watches a folder, if it is not watched yet.
  mutating func watch(_ path: String) {
    guard works, watched.count < Self.most, !watched.contains(path) else { return }
    if inotifytools_watch_file(path, Int32(bitPattern: Self.events)) != 0 { watched.insert(path) }
  }

  /// Forgets folders that are gone, so that others of their name are watched.
  mutating func keep(_ paths: Set<String>) {
    for path in watched.subtracting(paths) {
      _ = inotifytools_remove_watch_by_filename(path)
      watched.remove(path)
    }
  }

  /// Waits for a change, at most for `seconds`, and then for a pause: many files arrive together, and each tells several
  /// events.
  func wait(seconds: Int) {
    guard works else {
      sleep(UInt32(max(1, seconds)))
      return
    }
    // To the library, 0 seconds mean no end.
    guard inotifytools_next_event(max(1, seconds)) != nil else { return }
    let end = ContinuousClock.now + .seconds(1)
    while .now < end, inotifytools_next_event(1) != nil {}
  }
}
