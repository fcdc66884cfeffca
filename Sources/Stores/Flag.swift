import Synchronization

/// A fact that stays true once it is: for all copies of a store, and for work on other threads.
final class Flag: Sendable {
  private let value = Atomic<Bool>(false)

  func set() { value.store(true, ordering: .releasing) }
  var isSet: Bool { value.load(ordering: .acquiring) }
}
