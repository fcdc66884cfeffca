import Control
import Delivery
import Messages
import Networks
import Settings
import Spooling

/// Tests every store and network, and the conversations in routes, without sending.
package struct DestinationChecks {
  /// Runs a check, reports its sentence or error under the subject, and returns whether all is well.
  package typealias Report = (_ subject: String?, _ check: () async throws -> String) async -> Bool

  let settings: Settings
  let spool: Spool
  /// Whether the daemon never ran. XMTP accounts, which are made with the spool, cannot be tested then.
  let isNew: Bool

  package init(settings: Settings, spool: Spool, isNew: Bool) {
    self.settings = settings
    self.spool = spool
    self.isNew = isNew
  }

  package func run(_ report: Report) async {
    let destinations: Destinations
    do {
      // Errors are in the co-process's answers, so its log is dropped.
      var factory = DestinationFactory(settings, spool: spool) { _ in }
      destinations = try factory.destinations()
    } catch {
      _ = await report(nil) { throw error }
      return
    }
    for store in destinations.stores {
      let isPlain = settings.stores.contains { $0.name == store.name && $0.type.isPlain }
      _ = await report("store \(store.name)") { try await store.check() + (isPlain ? NetworkSettings.plainWay : "") }
    }
    for network in settings.networks {
      guard let found = destinations.networks.first(where: { $0.network.name == network.name })?.network else {
        continue
      }
      if isNew, type(of: network.type).keepsAccountInSpool {
        _ = await report("network \(network.name)") { "can be looked at once `photospool run` has made the spool" }
        continue
      }
      await check(network, found, report)
      await found.stop()
      if network.listening != nil { await checkListening(to: network.name, report) }
    }
  }

  /// Asks the daemon, which is the only listener.
  private func checkListening(to network: String, _ report: Report) async {
    _ = await report("listening to \(network)") {
      guard let reply = try ControlClient.ask(.listening, in: spool.state) else {
        return "begins when `photospool run` does"
      }
      guard let outcome = reply.outcomes.first(where: { $0.subject == network }) else {
        throw Failure(.configuration, "the daemon does not know of it; have it read the configuration again (SIGHUP)")
      }
      guard outcome.isDone else { throw Failure(.configuration, outcome.sentence) }
      return outcome.sentence
    }
  }

  private func check(_ settings: NetworkSettings, _ network: any Network, _ report: Report) async {
    var isAnswering = true
    let isWell = await report("network \(settings.name)") {
      do { return "\(try await network.check()); \(settings.privacy)\(reach(of: settings))" } catch let error
        as DeliveryError
      {
        guard error.cause == .conflict, let process = try spool.daemonProcess() else { throw error }
        isAnswering = false
        return "only the daemon, process \(process), can try it; `photospool queue` tells whether it gets through"
      }
    }
    guard isWell, isAnswering else { return }
    let named = conversations(of: settings)
    for conversation in named {
      do {
        guard let answer = try await network.checkConversation(conversation.address) else { continue }
        _ = await report("conversation \(conversation.name)") { answer }
      } catch {
        _ = await report("conversation \(conversation.name)") { throw error }
      }
    }
    let closed: [ClosedConversation]
    do { closed = try await network.closedConversations() } catch {
      _ = await report("network \(settings.name)") { throw error }
      return
    }
    // Those that a pattern or the standard network leads there, under their own names.
    let others = self.settings.heardConversations(on: settings).others
    for conversation in closed {
      guard !named.contains(where: { conversation.names.contains($0.address) }),
        let name = conversation.names.first(where: { others?(ConversationID(unchecked: $0.text)) == true })
      else { continue }
      _ = await report("conversation \(name)") { throw conversation.error }
    }
  }

  /// The conversations of exact routes to a network, with their names there.
  private func conversations(of network: NetworkSettings) -> [(name: String, address: Address)] {
    settings.routes.filter { $0.network == network.name }.flatMap { route in
      if let alias = route.alias { return [(route.conversations.joined(separator: ", "), alias)] }
      return route.conversations.filter { name in !name.contains { "*?".contains($0) } }.map {
        ($0, Address(unchecked: $0))
      }
    }
  }

  /// A warning if receivers cannot open photos, because the default store is a local directory.
  private func reach(of network: NetworkSettings) -> String {
    guard network.type.isElsewhere, let store = settings.stores.first(where: { $0.name == network.store }),
      store.type.isOnlyHere
    else { return "" }
    return "; the receiver CANNOT open its photos, which have file:// addresses of this computer: "
      + "give the store \(store.name) a `url`, or choose another store"
  }
}
