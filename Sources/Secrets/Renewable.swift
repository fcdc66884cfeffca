import Synchronization

/// A value made from secrets. After a refusal it is read again, because its file may have changed.
package final class Renewable<Value: Sendable>: Sendable {
  private struct State {
    var value: Value
    var isRefused = false
  }

  private let state: Mutex<State>
  private let read: (@Sendable () throws -> Value)?

  /// - Parameter read: reads it again; nil means that it never changes.
  package init(_ value: Value, read: (@Sendable () throws -> Value)? = nil) {
    state = Mutex(State(value: value))
    self.read = read
  }

  package convenience init(reading read: @escaping @Sendable () throws -> Value) throws {
    self.init(try read(), read: read)
  }

  /// The current value; the refused one if it cannot be read again.
  package var current: Value {
    state.withLock { state in
      if state.isRefused, let value = try? read?() { state = State(value: value) }
      return state.value
    }
  }

  /// Marks the value as refused, so that the next use reads it again.
  package func refuse() { state.withLock { $0.isRefused = true } }
}
