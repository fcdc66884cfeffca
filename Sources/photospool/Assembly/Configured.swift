import Darkroom
import Delivery
import HTTP
import Logging
import Receiving
import Settings
import Spooling
import Synchronization

/// A configuration, and all that was made of it.
struct Configured: Sendable {
  let settings: Settings
  let factory: DestinationFactory
  let darkroom: DarkroomPool
  let plan: DeliveryPlan
  let receiving: ReceivingPlan
  let subscriptions: [Subscription]
  /// For what strangers' photos are fetched with.
  private let client: HTTPClient

  /// - Parameter former: what is taken over where it is to be the same.
  /// - Throws: when anything is wrong: a secret that cannot be read, a store that cannot be made.
  init(_ settings: Settings, spool: Spool, after former: Configured?, log: Logger) throws {
    self.settings = settings
    let assembly = Assembly(settings: settings)
    factory = DestinationFactory(settings, spool: spool, after: former?.factory) {
      log.info("network says", metadata: ["line": "\($0)"])
    }
    let destinations = try factory.destinations()
    if let former, former.settings.photo == settings.photo, former.settings.profile == settings.profile {
      darkroom = former.darkroom
    } else {
      darkroom = assembly.darkroom()
    }
    plan = DeliveryPlan(settings: settings, destinations: destinations, preparer: darkroom)
    let sameClient = former.flatMap { $0.settings.http == settings.http ? $0.client : nil }
    client = sameClient ?? HTTPClient(settings.http.client)
    receiving = try assembly.receivingPlan(spool, darkroom, client: client)
    subscriptions = try factory.subscriptions()
  }

  /// Whether a running daemon cannot follow a change of this setting.
  static func isFixed(_ key: String) -> Bool { ["spool.directory", "spool.user"].contains(key) }
}

/// The configuration that the daemon follows.
final class ConfiguredInForce: Sendable {
  private let configured: Mutex<Configured>

  init(_ configured: Configured) { self.configured = Mutex(configured) }

  var now: Configured { configured.withLock { $0 } }

  /// Processes of a darkroom that is none any more end with their last photo.
  func replace(with new: Configured) {
    let former = configured.withLock { configured in
      defer { configured = new }
      return configured
    }
    if former.darkroom !== new.darkroom { former.darkroom.close() }
  }
}
