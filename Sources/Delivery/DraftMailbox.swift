import Signalling
import Spooling
import Synchronization

/// Where the watcher's thread leaves what it saw in `draft/`. Bounded: beyond its limit a scan is asked for instead.
final class DraftMailbox: Sendable {
  /// What was seen since the last `take`.
  struct Contents: Sendable {
    /// Each once, in the order in which they last changed.
    var names: [String] = []
    var builtInPlace: [String] = []
    var needsScan = false
  }

  /// Names held.
  private static let limit = 1024

  let bell = Bell()
  private let state = Mutex(Contents())

  /// Called on the watcher's thread.
  func post(_ event: SpoolEvent) {
    state.withLock { contents in
      switch event {
      case .draftChanged(let name):
        contents.names.removeAll { $0 == name }
        contents.names.append(name)
      case .draftBuiltInPlace(let name): contents.builtInPlace.append(name)
      default: contents.needsScan = true
      }
      if contents.names.count + contents.builtInPlace.count > Self.limit {
        contents = Contents(needsScan: true)
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
