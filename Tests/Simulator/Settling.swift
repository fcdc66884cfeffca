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

  func succeeded(_ destination: String, for conversation: Int64) async throws {
    memory.refusals[destination]?.gotThrough(conversation, Self.policy)
    try await close(destination)
  }

  private func close(_ destination: String) async throws {
    guard memory.circuits.removeValue(forKey: destination) != nil else { return }
    let count = try await ledger.release(waitingFor: destination, at: now)
    note("\(destination) works again, \(count) released")
  }

  private func failed(_ destination: String, _ error: DeliveryError, _ conversation: Int64) async throws {
    guard Self.policy.concernsAll(error.cause) else { return }
    if !Self.policy.isOfTheLine(error.cause) { try await answered(destination) }
    let concernsAll = memory.refusals[destination, default: Refusals()].add(conversation, error.cause, Self.policy)
    if concernsAll || memory.circuits[destination] != nil { memory.circuits[destination] = (error, false) }
  }

  private func answered(_ destination: String) async throws {
    if let circuit = memory.circuits[destination], Self.policy.isOfTheLine(circuit.error.cause) {
      try await close(destination)
    }
  }

  /// - Returns: whether the worker goes on with the next message.
  func settle(_ message: QueuedMessage, _ failure: Memory.Failure) async throws -> Bool {
    let error = failure.error
    note("\(message.message) \(failure.step): \(error.cause.rawValue)")
    if error.cause.disposition == .fail {
      if failure.wasTried, let destination = failure.destination { try await answered(destination) }
      try await ledger.fail(message, step: failure.step, error: error, at: now)
      let others = memory.held.keys.filter { $0.text.hasPrefix("\(message.request)/") }.sorted()
      for other in others { memory.held[other] = nil }
      try await ledger.abandonUploads(of: others)
      return true
    }
    let isHeld = memory.held[message.message] != nil
    if let destination = failure.destination {
      if failure.wasTried { try await failed(destination, error, message.conversationRow) }
      if !failure.wasTried || error.cause == .unreachable {
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
      let refused = memory.refusals[destination]?.conversations ?? []
      var isReleased = try await ledger.releaseOne(waitingFor: destination, except: refused, at: now)
      if !isReleased { isReleased = try await ledger.releaseOne(waitingFor: destination, at: now) }
      note("probe of \(destination): \(isReleased)")
    }
  }
}
