/// A complete, checked configuration that follows the current one.
package struct Reconfiguration: Sendable {
  package let plan: DeliveryPlan
  /// Changed keys, without values.
  package let changed: [String]
  /// Changed keys that need a restart.
  package let needRestart: [String]
  /// Stores and networks that changed, perhaps only in a secret.
  package let anew: [String]
  /// Applies the part outside of delivery.
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
