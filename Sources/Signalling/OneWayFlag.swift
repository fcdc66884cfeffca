import Synchronization

/// A fact that stays true once it is, for any number of tasks and threads.
package final class OneWayFlag: Sendable {
  private let value = Atomic<Bool>(false)

  package init() {}

  package var isSet: Bool { value.load(ordering: .acquiring) }
  package func set() { value.store(true, ordering: .releasing) }
}
