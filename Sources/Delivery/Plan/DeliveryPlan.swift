import Messages
import Photos
import Settings
import Signalling

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

typealias PlanInForce = InForce<DeliveryPlan>

extension InForce<DeliveryPlan> {
  var intake: Settings.Intake { now.settings.intake }
  var delivery: Settings.Delivery { now.settings.delivery }
  var destinations: Destinations { now.destinations }
}

extension Settings.Delivery {
  /// The seconds that a message waits after a failure. A refusing destination must be fixed first.
  func delay(after error: DeliveryError, of destination: String?, attempt: Int) -> Double {
    destination != nil && error.cause.disposition == .hold
      ? mending.seconds : backoff.delay(after: error, attempt: attempt, random: .random(in: 0...1))
  }
}
