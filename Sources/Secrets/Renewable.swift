import Synchronization

/// Something that is made of secrets. After it was refused it is read again, as its file may have been replaced.
package final class Renewable<Value: Sendable>: Sendable {
  private struct State {
    var value: Value
    var isRefused = false
  }

  private let state: Mutex<State>
  private let read: (@Sendable () throws -> Value)?

  /// - Parameter read: reads it again; nil is that it never changes.
  package init(_ value: Value, read: (@Sendable () throws -> Value)? = nil) {
    state = Mutex(State(value: value))
    self.read = read
  }

  /// Reads it for the first time.
  package convenience init(reading read: @escaping @Sendable () throws -> Value) throws {
    self.init(try read(), read: read)
  }

  /// The value that is valid as far as is known. While it cannot be read again, that is the refused one.
  package var current: Value {
    state.withLock { state in
      if state.isRefused, let value = try? read?() { state = State(value: value) }
      return state.value
    }
  }

  /// It was not accepted: the next use reads it again.
  package func refuse() { state.withLock { $0.isRefused = true } }
}
