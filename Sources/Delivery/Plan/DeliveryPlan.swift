import Messages
import Photos
import Settings
import Synchronization

/// The part of the configuration for delivery: limits, destinations, and photo preparation.
package final class DeliveryPlan: Sendable {
  package let settings: Settings
  package let destinations: Destinations
  package let preparer: any PhotoPreparer
  /// Seconds that a stop waits for work in progress; nil means no limit.
  let stopSeconds: Double?

  package init(
    settings: Settings, destinations: Destinations, preparer: any PhotoPreparer, stopSeconds: Double? = 3
  ) {
    self.settings = settings
    self.destinations = destinations
    self.preparer = preparer
    self.stopSeconds = stopSeconds
  }
}

/// The current plan. An operation reads it once and keeps it to its end.
final class PlanInForce: Sendable {
  private let plan: Mutex<DeliveryPlan>

  init(_ plan: DeliveryPlan) { self.plan = Mutex(plan) }

  var now: DeliveryPlan { plan.withLock { $0 } }

  var intake: Settings.Intake { now.settings.intake }
  var delivery: Settings.Delivery { now.settings.delivery }
  var destinations: Destinations { now.destinations }

  func replace(with new: DeliveryPlan) { plan.withLock { $0 = new } }
}

extension Settings.Delivery {
  /// The seconds that a message waits after a failure. A refusing destination must be fixed first.
  func delay(after error: DeliveryError, of destination: String?, attempt: Int) -> Double {
    destination != nil && error.cause.disposition == .hold
      ? mending.seconds : backoff.delay(after: error, attempt: attempt, random: .random(in: 0...1))
  }
}
