import Messages
import TestSupport

/// What goes wrong, and when: nothing once faults have stopped.
struct Faults {
  var areOver = false
  /// A destination that fails everybody for a while, and how.
  private var outages: [String: (error: DeliveryError, calls: Int)] = [:]

  enum Outcome {
    case done
    /// Nothing happened, and that was said.
    case failed(DeliveryError)
    /// It happened, and nobody heard.
    case lost(DeliveryError)
  }

  mutating func outcome(_ destination: String, _ random: inout SeededRandom) -> Outcome {
    if areOver { return .done }
    if let outage = outages[destination] {
      outages[destination] = outage.calls > 1 ? (outage.error, outage.calls - 1) : nil
      return .failed(outage.error)
    }
    switch random.below(20) {
    case 0:
      let causes: [Cause] = [.authExpired, .unreachable, .rateLimited, .configError]
      let error = DeliveryError(causes[random.below(causes.count)], "an outage")
      outages[destination] = (error, 1 + random.below(6))
      return .failed(error)
    case 1: return .failed(DeliveryError(.serverBusy, "busy", retryAfter: Double(random.below(100))))
    case 2: return .failed(DeliveryError(.network, "it broke"))
    case 3, 4: return .lost(DeliveryError(random.below(2) == 0 ? .network : .timeout, "no answer"))
    case 5 where destination == "network": return .failed(DeliveryError(.rejected, "no"))
    default: return .done
    }
  }
}
