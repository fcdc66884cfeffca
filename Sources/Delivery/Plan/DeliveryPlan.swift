import Messages
import Photos
import Settings
import Synchronization

/// The part of the configuration that concerns delivery: the pace, where everything goes, and who prepares photos.
package final class DeliveryPlan: Sendable {
  package let settings: Settings
  package let destinations: Destinations
  package let preparer: any PhotoPreparer
  /// Seconds that a stop waits for what is in progress, before it is cut off; nil is as long as it takes.
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

/// The plan in force. Whoever begins something takes it from here and stays with what it took until the end of that.
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
  /// Seconds that a message waits after its attempt failed. A destination that refuses it has to be mended first.
  func delay(after error: DeliveryError, of destination: String?, attempt: Int) -> Double {
    destination != nil && error.cause.disposition == .hold
      ? mending.seconds : backoff.delay(after: error, attempt: attempt, random: .random(in: 0...1))
  }
}
