@preconcurrency import Dispatch
import Glibc
import Signalling
import Synchronization

/// Reports changes in the directories of drafts: a file that was closed after writing, renamed or removed. A watch
/// reports one change and ends, so a program that writes without a pause costs one event for each `watch`. The watch of
/// a draft that is sent, removed or renamed reports that and ends, too.
///
/// Events of drafts have a queue of their own in the kernel and cannot overflow that of `new/`. libinotifytools does not
/// fit: it has one queue, and never forgets a watch that the kernel ended.
package final class DraftWatcher: Sendable {
  private struct Watched {
    var drafts: [Int32: (name: String, owner: UInt32)] = [:]
    var counts: [UInt32: Int] = [:]

    @discardableResult
    mutating func remove(_ watch: Int32) -> String? {
      guard let draft = drafts.removeValue(forKey: watch) else { return nil }
      let count = counts[draft.owner, default: 1] - 1
      counts[draft.owner] = count > 0 ? count : nil
      return draft.name
    }
  }

  /// Drafts of one user that are watched. A watch keeps memory of the kernel, and its user's watches are limited.
  package static let mostDrafts = 256

  private static let changes =
    IN_CLOSE_WRITE | IN_MOVED_TO | IN_MOVED_FROM | IN_DELETE | IN_MOVE_SELF | Int32(IN_DONT_FOLLOW | IN_ONLYDIR)

  private let path: String
  private let mailbox: Mailbox
  private let descriptor: Int32
  private let source: any DispatchSourceRead
  private let watched = Mutex(Watched())

  /// Returns nil if the kernel gives no queue of events.
  ///
  /// - Parameters:
  ///   - path: the path of `draft/`.
  ///   - mailbox: gets the names of changed drafts.
  package init?(_ path: String, _ mailbox: Mailbox) {
    descriptor = inotify_init1(Int32(IN_NONBLOCK | IN_CLOEXEC))
    guard descriptor >= 0 else { return nil }
    (self.path, self.mailbox) = (path, mailbox)
    source = DispatchSource.makeReadSource(fileDescriptor: descriptor, queue: DispatchQueue(label: "drafts watcher"))
    source.setEventHandler { [weak self] in self?.read() }
    source.setCancelHandler { [descriptor] in close(descriptor) }
    source.activate()
  }

  deinit { source.cancel() }

  /// Posts the draft's name at its next change, once. Changes before the call are not reported, so a draft is watched
  /// first and then read.
  ///
  /// - Returns: false if the user has too many drafts, or the kernel gives no more watches. A directory that is missing
  ///   or unreadable is not watched either.
  package func watch(_ name: String, of owner: UInt32) -> Bool {
    // Under the lock, so that the event of a new watch finds its draft.
    watched.withLock { watched in
      guard watched.counts[owner, default: 0] < Self.mostDrafts else { return false }
      let watch = inotify_add_watch(descriptor, "\(path)/\(name)", UInt32(bitPattern: Self.changes) | IN_ONESHOT)
      guard watch >= 0 else { return errno != ENOSPC && errno != ENOMEM }
      watched.remove(watch)
      watched.drafts[watch] = (name, owner)
      watched.counts[owner, default: 0] += 1
      return true
    }
  }

  private func read() {
    withUnsafeTemporaryAllocation(byteCount: 1 << 16, alignment: MemoryLayout<inotify_event>.alignment) { buffer in
      guard let start = buffer.baseAddress else { return }
      while true {
        let count = Glibc.read(descriptor, start, buffer.count)
        guard count > 0 else { return }
        var offset = 0
        while offset < count {
          let event = (start + offset).assumingMemoryBound(to: inotify_event.self).pointee
          handle(event)
          offset += MemoryLayout<inotify_event>.size + Int(event.len)
        }
      }
    }
  }

  private func handle(_ event: inotify_event) {
    if event.mask & UInt32(IN_Q_OVERFLOW) != 0 {
      watched.withLock { $0 = Watched() }
      mailbox.postLoss()
    } else if let name = watched.withLock({ $0.remove(event.wd) }) {
      // Also at the end of a watch without an event: its directory was removed, or it ended while it was renewed.
      mailbox.post(renamed: name)
    }
  }
}
