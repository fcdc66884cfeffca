/// A configuration that was read and checked as a whole, to follow the one in force.
package struct Reconfiguration: Sendable {
  package let plan: DeliveryPlan
  /// The keys that are not as they were; never their values.
  package let changed: [String]
  /// Those of them that a running daemon cannot follow.
  package let needRestart: [String]
  /// The stores and networks that are not as they were: a secret of theirs may be all that changed.
  package let anew: [String]
  /// Takes over what is none of delivery's business.
  package let adopt: @Sendable () -> Void

  package init(
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
