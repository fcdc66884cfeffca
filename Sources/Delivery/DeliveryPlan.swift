import Photos
import Synchronization

/// What the configuration decides about delivery: the pace, where everything goes, and who prepares photos.
public struct DeliveryPlan: Sendable {
  public var options: DeliveryOptions
  public var destinations: Destinations
  public var preparer: any PhotoPreparer

  public init(options: DeliveryOptions, destinations: Destinations, preparer: any PhotoPreparer) {
    self.options = options
    self.destinations = destinations
    self.preparer = preparer
  }
}

/// The plan in force. Whoever begins something takes it from here and stays with what it took until the end of that.
final class PlanInForce: Sendable {
  private let plan: Mutex<DeliveryPlan>

  init(_ plan: DeliveryPlan) { self.plan = Mutex(plan) }

  var now: DeliveryPlan { plan.withLock { $0 } }

  var options: DeliveryOptions { now.options }
  var destinations: Destinations { now.destinations }

  func replace(with new: DeliveryPlan) { plan.withLock { $0 = new } }
}
