/// A configuration that was read and checked as a whole, to follow the one in force.
public struct Reconfiguration: Sendable {
  public let plan: DeliveryPlan
  /// The keys that are not as they were; never their values.
  public let changed: [String]
  /// Those of them that a running daemon cannot follow.
  public let needRestart: [String]
  /// The stores and networks that are not as they were: a secret of theirs may be all that changed.
  public let anew: [String]
  /// Takes over what is none of delivery's business.
  public let adopt: @Sendable () -> Void

  public init(
    plan: DeliveryPlan, changed: [String], needRestart: [String], anew: [String],
    adopt: @escaping @Sendable () -> Void = {}
  ) {
    self.plan = plan
    self.changed = changed
    self.needRestart = needRestart
    self.anew = anew
    self.adopt = adopt
  }
}
