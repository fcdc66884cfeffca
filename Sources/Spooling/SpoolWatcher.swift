import CInotifyTools
import DurableFiles
import Foundation
import Signalling
import Synchronization

/// Watches the spool with libinotifytools, on a thread that does nothing else. The library has one inotify descriptor
/// per process and is not thread-safe: one watcher owns it, and after `start` only its thread calls it. The descriptor
/// cannot be polled with others, so a *fence* wakes the thread: a directory made and removed in `state/fence/`. The
/// kernel's queue is first in, first out, so a reported fence proves that all earlier events were reported.
package final class SpoolWatcher: Sendable {
  private struct Fences {
    /// The last one that was reported.
    var last = 0
    var waiting: [(number: Int, waiter: CheckedContinuation<Bool, Never>)] = []
  }

  private enum Place: String, CaseIterable {
    case new, draft, cancel, purge
    case incoming = "incoming/new"
    case fence = "state/fence"
    case mail = "mail/new"

    /// The events besides arrivals.
    var more: Int32 {
      switch self {
      // In `draft/` removals matter, too.
      case .draft: IN_MOVED_FROM | IN_DELETE
      // Files are written there in place, and are read once they are closed.
      case .cancel, .purge: IN_CLOSE_WRITE
      case .new, .incoming, .fence, .mail: 0
      }
    }
  }

  private static let isLibraryTaken = Atomic<Bool>(false)

  private let root: String
  private let fences: Directory
  private let signals: SpoolSignals
  /// The events of `mail/new/`; nil without mail.
  private let mail: Mailbox?
  private let places: [Place]
  private let stopping = Atomic<Bool>(false)
  private let fenceCount = Atomic<Int>(0)
  private let fenced = Mutex(Fences())
  /// Set by `watchAgain`, read by the thread.
  private let rewatchesNew = Atomic<Bool>(false)
  private let rewatchesDraft = Atomic<Bool>(false)

  /// - Parameters:
  ///   - signals: posted on the watcher's thread.
  ///   - mail: the same for `mail/new/`, if the spool takes mail.
  package init(_ spool: Spool, _ signals: SpoolSignals, mail: Mailbox? = nil) throws {
    root = spool.path
    fences = try spool.state.directory(creating: "fence")
    (self.signals, self.mail) = (signals, mail)
    places = Place.allCases.filter { $0 != .mail || mail != nil }
    for name in try fences.names() { try fences.removeEmpty(name) }
  }

  /// Begins to watch. Everything that arrives after this returns is reported. Returns false if the kernel gives no
  /// watch, too many files are open for the library, or another watcher of this process uses it. Only rescans find
  /// requests then.
  package func start() -> Bool {
    guard Self.isLibraryTaken.compareExchange(expected: false, desired: true, ordering: .acquiring).exchanged else {
      return false
    }
    guard Self.isRoomForLibrary, inotifytools_initialize() != 0 else {
      Self.isLibraryTaken.store(false, ordering: .releasing)
      return false
    }
    guard places.allSatisfy(watch) else {
      leaveLibrary()
      return false
    }
    let thread = Thread { self.drain() }
    thread.name = "spool watcher"
    thread.stackSize = 1 << 18
    thread.start()
    return true
  }

  /// Ends the thread, with a fence.
  package func stop() {
    stopping.store(true, ordering: .releasing)
    _ = try? fence()
  }

  /// Makes a fence and returns its number for `pass`. Blocks on the disk.
  package func fence() throws -> Int {
    let number = fenceCount.wrappingAdd(1, ordering: .relaxed).newValue
    _ = try fences.make("\(number)")
    try fences.removeEmpty("\(number)")
    return number
  }

  /// Waits until all events before a fence are reported; false if that takes longer than `seconds`.
  package func pass(fence: Int, within seconds: Double) async -> Bool {
    let timeout = Task {
      try await Task.sleep(for: .seconds(seconds))
      release(isPassed: false) { $0 == fence }
    }
    defer { timeout.cancel() }
    return await withCheckedContinuation { waiter in
      let isPassed = fenced.withLock { fenced in
        if fenced.last >= fence { return true }
        fenced.waiting.append((fence, waiter))
        return false
      }
      if isPassed { waiter.resume(returning: true) }
    }
  }

  private func release(isPassed: Bool, where isMeant: (Int) -> Bool) {
    let waiters = fenced.withLock { fenced in
      defer { fenced.waiting.removeAll { isMeant($0.number) } }
      return fenced.waiting.filter { isMeant($0.number) }.map(\.waiter)
    }
    for waiter in waiters { waiter.resume(returning: isPassed) }
  }

  /// Reports that events were lost, perhaps those of fences, too.
  private func lose() {
    signals.loseAll()
    mail?.postLoss()
    release(isPassed: true) { _ in true }
  }

  private func passed(fence number: Int) {
    fenced.withLock { $0.last = max($0.last, number) }
    release(isPassed: true) { $0 <= number }
  }

  /// Watches `new/` again after it was replaced.
  package func watchNewAgain() throws {
    rewatchesNew.store(true, ordering: .releasing)
    _ = try fence()
  }

  /// Watches `draft/` again after it was replaced.
  package func watchDraftAgain() throws {
    rewatchesDraft.store(true, ordering: .releasing)
    _ = try fence()
  }

  // MARK: The thread

  private func watch(_ place: Place) -> Bool {
    let arrivals = IN_MOVED_TO | IN_CREATE | IN_DELETE_SELF | IN_MOVE_SELF
    let events = UInt32(arrivals | place.more) | UInt32(IN_ONLYDIR | IN_DONT_FOLLOW | IN_EXCL_UNLINK)
    return inotifytools_watch_file("\(root)/\(place.rawValue)", Int32(bitPattern: events)) != 0
  }

  /// The directories by the numbers of their watches.
  private var watched: [Int32: Place] {
    Dictionary(places.map { (inotifytools_wd_from_filename("\(root)/\($0.rawValue)/"), $0) }) { $1 }
  }

  private func drain() {
    var watched = watched
    while !stopping.load(ordering: .acquiring) {
      // -1 waits forever, so that an idle spool wakes nobody.
      guard let event = inotifytools_next_event(-1) else {
        lose()
        // A lasting error must not spin; rescans go on meanwhile.
        if inotifytools_error() != EINTR { Thread.sleep(forTimeInterval: 1) }
        continue
      }
      let mask = event.pointee.mask
      if mask & UInt32(IN_Q_OVERFLOW) != 0 {
        lose()
        continue
      }
      switch watched[event.pointee.wd] {
      case .fence:
        let isNewAnother = rewatchesNew.exchange(false, ordering: .acquiringAndReleasing) && watch(.new)
        let isDraftAnother = rewatchesDraft.exchange(false, ordering: .acquiringAndReleasing) && watch(.draft)
        if isNewAnother || isDraftAnother { watched = self.watched }
        if mask & UInt32(IN_CREATE) != 0 { passed(fence: Int(name(of: event)) ?? 0) }
      case .draft: post(event, to: signals.draft, renames: IN_MOVED_TO | IN_MOVED_FROM | IN_DELETE) { $0.postLoss() }
      case .cancel: signals.cancel.ring()
      case .purge: signals.purge.ring()
      case .incoming: post(event, to: signals.incoming) { $0.postLoss() }
      case .new: post(event, to: signals.new) { $0.postVanished() }
      // An agent's `link` is told as a creation; the mail is complete then.
      case .mail: if let mail { post(event, to: mail, renames: IN_MOVED_TO | IN_CREATE) { $0.postLoss() } }
      case nil: break
      }
    }
    leaveLibrary()
  }

  /// - Parameter vanished: called if the directory itself was moved or removed.
  private func post(
    _ event: UnsafeMutablePointer<inotify_event>, to mailbox: Mailbox, renames: Int32 = IN_MOVED_TO,
    vanished: (Mailbox) -> Void
  ) {
    let mask = event.pointee.mask
    if mask & UInt32(renames) != 0 {
      mailbox.post(renamed: name(of: event))
    } else if mask & UInt32(IN_CREATE) != 0 {
      mailbox.post(builtInPlace: name(of: event))
    } else {
      vanished(mailbox)
    }
  }

  /// The library uses `select`, for which glibc aborts with a descriptor of 1,024 or more. It opens the lowest free
  /// one; 64 are left for files that others open at the same time.
  private static var isRoomForLibrary: Bool {
    let lowest = open("/", O_RDONLY | O_CLOEXEC)
    guard lowest >= 0 else { return false }
    close(lowest)
    return lowest < FD_SETSIZE - 64
  }

  private func leaveLibrary() {
    inotifytools_cleanup()
    Self.isLibraryTaken.store(false, ordering: .releasing)
  }

  /// The event's name without its zero padding. Invalid UTF-8 is replaced and matches nothing; the next rescan finds
  /// that entry.
  private func name(of event: UnsafeMutablePointer<inotify_event>) -> String {
    guard event.pointee.len > 0 else { return "" }
    let start = UnsafeRawPointer(event) + MemoryLayout<inotify_event>.size
    let bytes = UnsafeRawBufferPointer(start: start, count: Int(event.pointee.len)).prefix { $0 != 0 }
    return String(decoding: bytes, as: UTF8.self)
  }
}
