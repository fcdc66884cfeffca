import Messages

/// The delivery error of an action; nil if it succeeds.
package func failure<Value>(_ action: () async throws -> Value) async throws -> DeliveryError? {
  do {
    _ = try await action()
    return nil
  } catch let error as DeliveryError {
    return error
  }
}

extension Error {
  /// The cause of a delivery error.
  package var cause: Cause? { (self as? DeliveryError).map { $0.cause as Cause } }
}
