import Signalling
import Spooling
import Synchronization

/// Where the watcher's thread leaves what it saw in `incoming/new/`. Bounded: beyond its limit a scan is asked for
/// instead.
final class IncomingMailbox: Sendable {
  /// What was seen since the last `take`.
  struct Contents: Sendable {
    /// Renamed there, in the order in which the kernel saw it.
    var names: [String] = []
    var wasBuiltInPlace = false
    var needsScan = false
  }

  /// Names held.
  private static let limit = 4096

  private let state = Mutex(Contents())
  let bell = Bell()

  /// Called on the watcher's thread.
  func post(_ event: SpoolEvent) {
    state.withLock { contents in
      switch event {
      case .received(let name) where contents.names.count < Self.limit: contents.names.append(name)
      case .receivedInPlace: contents.wasBuiltInPlace = true
      default: contents.needsScan = true
      }
    }
    bell.ring()
  }

  /// Posts `event` in `seconds`.
  func post(_ event: SpoolEvent, in seconds: Double) {
    Task { [weak self] in
      try await Task.sleep(for: .seconds(seconds))
      self?.post(event)
    }
  }

  /// Empties the mailbox.
  func take() -> Contents {
    state.withLock { contents in
      defer { contents = Contents() }
      return contents
    }
  }
}
