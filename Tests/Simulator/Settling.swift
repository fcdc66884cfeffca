import Ledgers
import Messages

@testable import Delivery

/// What a failure means: the rules of `RetryPolicy` and `CircuitPolicy`.
extension Simulation {
  private static let policy = CircuitPolicy()
  private static let retry = RetryPolicy()

  func obstacle(to destination: String) -> DeliveryError? {
    guard let circuit = memory.circuits[destination] else { return nil }
    if circuit.hasTicket {
      memory.circuits[destination]?.hasTicket = false
      return nil
    }
    return circuit.error
  }

  func succeeded(_ destination: String) async throws {
    memory.suspects[destination] = nil
    guard memory.circuits.removeValue(forKey: destination) != nil else { return }
    let count = try await ledger.release(waitingFor: destination, at: now)
    note("\(destination) works again, \(count) released")
  }

  /// Whether it concerns all who use the destination.
  private func failed(_ destination: String, _ error: DeliveryError, _ conversation: Int64) -> Bool {
    guard Self.policy.concernsAll(error.cause) else { return false }
    if !Self.policy.isUnsent(error.cause), memory.circuits[destination] == nil {
      let suspect = memory.suspects.updateValue(conversation, forKey: destination)
      if suspect == nil || suspect == conversation { return false }
    }
    memory.circuits[destination] = (error, false)
    return true
  }

  /// - Returns: whether the worker goes on with the next message.
  func settle(_ message: QueuedMessage, _ failure: Memory.Failure) async throws -> Bool {
    let error = failure.error
    note("\(message.message) \(failure.step): \(error.cause.rawValue)")
    if error.cause.disposition == .fail {
      try await ledger.fail(message, step: failure.step, error: error, at: now)
      let others = memory.held.keys.filter { $0.text.hasPrefix("\(message.request)/") }.sorted()
      for other in others { memory.held[other] = nil }
      try await ledger.abandonUploads(of: others)
      return true
    }
    let isHeld = memory.held[message.message] != nil
    if let destination = failure.destination {
      let concernsAll =
        failure.wasTried
        ? failed(destination, error, message.conversationRow) && Self.policy.isUnsent(error.cause) : true
      if concernsAll {
        try await ledger.park(
          message, for: destination, error: error, until: message.acceptedAt.advanced(seconds: Self.lifetime),
          keepsUpload: isHeld, at: now)
        if memory.circuits[destination] == nil { _ = try await ledger.release(waitingFor: destination, at: now) }
        return false
      }
    }
    let random = Double(self.random.below(1000)) / 1000
    let delay = Self.retry.delay(after: error, attempt: message.attempts + 1, random: random)
    try await ledger.postpone(
      message, step: failure.step, error: error, until: now.advanced(seconds: delay), keepsUpload: isHeld, at: now)
    return false
  }

  /// Lets one conversation try each destination that is left alone.
  func probe() async throws {
    for destination in memory.circuits.keys.sorted() {
      memory.circuits[destination]?.hasTicket = true
      let isReleased = try await ledger.releaseOne(waitingFor: destination, at: now)
      note("probe of \(destination): \(isReleased)")
    }
  }
}
