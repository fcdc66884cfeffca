import Darkroom
import Delivery
import HTTP
import Logging
import Receiving
import Settings
import Spooling

/// A configuration and everything made from it.
struct Configured: Sendable {
  let settings: Settings
  let factory: DestinationFactory
  let darkroom: DarkroomPool
  let plan: DeliveryPlan
  let receiving: ReceivingPlan
  let subscriptions: [Subscription]
  /// The client that fetches photos of others.
  private let client: HTTPClient

  /// - Parameter former: the previous configuration, whose unchanged parts are reused.
  /// - Throws: an error in the configuration, such as an unreadable secret.
  init(_ settings: Settings, spool: Spool, after former: Configured?, log: Logger) throws {
    self.settings = settings
    var factory = DestinationFactory(settings, spool: spool, after: former?.factory) {
      log.info("network says", metadata: ["line": "\($0)"])
    }
    let destinations = try factory.destinations()
    if let former, former.settings.photo == settings.photo, former.settings.profile == settings.profile {
      darkroom = former.darkroom
    } else {
      darkroom = settings.makeDarkroom()
    }
    plan = DeliveryPlan(settings: settings, destinations: destinations, preparer: darkroom)
    let sameClient = former.flatMap { $0.settings.http == settings.http ? $0.client : nil }
    client = sameClient ?? HTTPClient(settings.http.client)
    receiving = try settings.makeReceivingPlan(spool, darkroom, client: client)
    subscriptions = try factory.subscriptions()
    self.factory = factory
  }

  /// Whether a change of this setting needs a restart.
  static func isFixed(_ key: String, former: Settings, new: Settings) -> Bool {
    // With the first rule of mails their service begins, and ends with the last one.
    if key == "mail.accept" { return former.mailRules.isEmpty != new.mailRules.isEmpty }
    // The bytes of relayed requests have a bucket for as long as the daemon runs.
    if former.cluster.isConfigured, let bytes = former.cluster.bytes {
      let section = bytes == former.stores.first?.name ? "store" : "stores.\(bytes)"
      if key.hasPrefix("\(section).") { return true }
    }
    return ["spool.directory", "spool.user"].contains(key) || key.hasPrefix("cluster.")
  }
}
