import Control
import Delivery
import Messages
import Networks
import Settings
import Spooling
import Stores

/// Tests every store and network, and the conversations in routes, without sending: those of a configuration file, or
/// those of the running daemon. Sentences hold no secrets.
package struct DestinationChecks: Sendable {
  /// Takes the outcome of a check.
  package typealias Tell = (ControlReply.Outcome) -> Void

  /// All checks of one store or network.
  private typealias Check = @Sendable (Tell) async -> Void

  private let settings: Settings
  private let destinations: Destinations
  /// Whether the daemon never ran. XMTP accounts, which are made with the spool, cannot be tested then.
  private let isNew: Bool
  /// The state of each listener in the daemon; nil if none runs.
  private let listening: @Sendable () async throws -> [ControlReply.Outcome]?
  /// The other process that may be using an account alone, if any.
  private let daemonProcess: @Sendable () throws -> String?

  /// Seconds for each store and network of a round, beside the limits of each request: a receiver may answer without end.
  package static let patience = 600

  /// Makes the destinations of a configuration, which need not be in force.
  ///
  /// - Throws: an error in the configuration, such as an unreadable secret.
  package init(settings: Settings, spool: Spool, isNew: Bool) throws {
    // Errors are in the co-process's answers, so its log is dropped.
    var factory = DestinationFactory(settings, spool: spool) { _ in }
    destinations = try factory.destinations()
    self.settings = settings
    self.isNew = isNew
    listening = { try ControlClient.ask(.listening, in: spool.state)?.outcomes }
    daemonProcess = { try spool.daemonProcess() }
  }

  /// The checks of the daemon's own destinations, with their connections and secrets.
  init(
    of destinations: Destinations, settings: Settings,
    listening: @escaping @Sendable () async throws -> [ControlReply.Outcome]?
  ) {
    self.destinations = destinations
    self.settings = settings
    self.listening = listening
    isNew = false
    daemonProcess = { nil }
  }

  /// Tests one after another, and ends the networks' processes.
  package func run(_ tell: Tell) async {
    for store in destinations.stores { await check(store, tell) }
    for (settings, network) in networks {
      await check(settings, network, tell)
      await network.stop()
    }
  }

  /// Tests all at once, and reports in the order of `run`. Those that do not answer within `patience`, or before a
  /// cancellation, are reported as such.
  func round(patience: Int = patience) async -> [ControlReply.Outcome] {
    var checks = [Check]()
    for store in destinations.stores { checks.append { await check(store, $0) } }
    for (settings, network) in networks { checks.append { await check(settings, network, $0) } }
    return await withTaskGroup(of: (Int, [ControlReply.Outcome]).self) { group in
      for (index, check) in checks.enumerated() {
        group.addTask { (index, await Self.outcomes(of: check, patience: patience)) }
      }
      var outcomes = [(Int, [ControlReply.Outcome])]()
      for await part in group { outcomes.append(part) }
      return outcomes.sorted { $0.0 < $1.0 }.flatMap(\.1)
    }
  }

  private static func outcomes(of check: @escaping Check, patience: Int) async -> [ControlReply.Outcome] {
    let task = Task {
      var outcomes = [ControlReply.Outcome]()
      await check { outcome in
        let isLate = !outcome.isDone && Task.isCancelled
        let late = ControlReply.Outcome(outcome.subject, isDone: false, "has not answered within \(patience) s")
        outcomes.append(isLate ? late : outcome)
      }
      return outcomes
    }
    let alarm = Task {
      try await Task.sleep(for: .seconds(patience))
      task.cancel()
    }
    defer { alarm.cancel() }
    return await withTaskCancellationHandler {
      await task.value
    } onCancel: {
      task.cancel()
    }
  }

  private var networks: [(NetworkSettings, any Network)] {
    settings.networks.compactMap { settings in
      destinations.networks.first { $0.network.name == settings.name }.map { (settings, $0.network) }
    }
  }

  private func check(_ store: any Store, _ tell: Tell) async {
    let isPlain = settings.stores.contains { $0.name == store.name && $0.type.isPlain }
    let outcome = await ControlReply.Outcome.of("store \(store.name)") {
      try await store.check() + (isPlain ? NetworkSettings.plainWay : "")
    }
    tell(outcome)
  }

  private func check(_ settings: NetworkSettings, _ network: any Network, _ tell: Tell) async {
    if isNew, type(of: settings.type).keepsAccountInSpool {
      let sentence = "can be looked at once `photospool run` has made the spool"
      return tell(.init("network \(settings.name)", isDone: true, sentence))
    }
    await checkSending(settings, network, tell)
    if settings.listening != nil { tell(await checkListening(to: settings.name)) }
  }

  /// Asks the daemon, which is the only listener.
  private func checkListening(to network: String) async -> ControlReply.Outcome {
    await .of("listening to \(network)") {
      guard let outcomes = try await listening() else { return "begins when `photospool run` does" }
      guard let outcome = outcomes.first(where: { $0.subject == network }) else {
        throw Failure(.configuration, "the daemon does not know of it; have it read the configuration again (SIGHUP)")
      }
      guard outcome.isDone else { throw Failure(.configuration, outcome.sentence) }
      return outcome.sentence
    }
  }

  private func checkSending(_ settings: NetworkSettings, _ network: any Network, _ tell: Tell) async {
    var isAnswering = true
    let outcome = await ControlReply.Outcome.of("network \(settings.name)") {
      do { return "\(try await network.check()); \(settings.privacy)\(reach(of: settings))" } catch let error
        as DeliveryError
      {
        guard error.cause == .conflict, let process = try daemonProcess() else { throw error }
        isAnswering = false
        return "only the daemon, process \(process), can try it; `photospool queue` tells whether it gets through"
      }
    }
    tell(outcome)
    guard outcome.isDone, isAnswering else { return }
    let named = conversations(of: settings)
    for (name, address) in named where !Task.isCancelled {
      do {
        guard let answer = try await network.checkConversation(address) else { continue }
        tell(.init("conversation \(name)", isDone: true, answer))
      } catch { tell(.failed("conversation \(name)", error)) }
    }
    let closed: [ClosedConversation]
    do { closed = try await network.closedConversations() } catch {
      return tell(.failed("network \(settings.name)", error))
    }
    // Those that a pattern or the standard network leads there, under their own names.
    let others = self.settings.heardConversations(on: settings).others
    for conversation in closed {
      guard !named.contains(where: { conversation.names.contains($0.address) }),
        let name = conversation.names.first(where: { others?(ConversationID(unchecked: $0.text)) == true })
      else { continue }
      tell(.failed("conversation \(name)", conversation.error))
    }
  }

  /// The conversations of exact routes to a network, with their names there.
  private func conversations(of network: NetworkSettings) -> [(name: String, address: Address)] {
    settings.routes.filter { $0.network == network.name }.flatMap { route in
      if let alias = route.alias { return [(route.conversations.joined(separator: ", "), alias)] }
      return route.exactConversations.map { ($0, Address(unchecked: $0)) }
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

extension ControlReply.Outcome {
  /// The outcome of a check: its sentence, or that of its error.
  package static func of(_ subject: String, _ check: () async throws -> String) async -> Self {
    do { return Self(subject, isDone: true, try await check()) } catch { return failed(subject, error) }
  }

  /// The outcome of a failed check. Its sentence is that of the queue and the log.
  package static func failed(_ subject: String, _ error: any Error) -> Self {
    Self(subject, isDone: false, (error as? DeliveryError)?.sentence ?? "\(error)")
  }
}
