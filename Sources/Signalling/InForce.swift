import Synchronization

/// A value that all share: replaced as a whole, such as the configuration, which an operation reads once and keeps to its
/// end; or changed in place, such as a set.
package final class InForce<Value: Sendable>: Sendable {
  private let value: Mutex<Value>

  package init(_ value: Value) { self.value = Mutex(value) }

  package var now: Value { value.withLock { $0 } }

  /// Returns the former value.
  @discardableResult
  package func replace(with new: Value) -> Value {
    value.withLock { value in
      defer { value = new }
      return value
    }
  }

  /// Changes the value under the lock, so `body` must be quick.
  package func change(_ body: (inout Value) -> Void) { value.withLock { body(&$0) } }
}
