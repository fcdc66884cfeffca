import Blocking
import Control
import DurableFiles
import Ledgers
import Logging
import Messages
import Networks
import Photos
import Seals
import Spooling
import Stores
import TestSupport
import Testing

@testable import Delivery

/// A whole daemon in this process, on a spool of its own, with a network that fails as told.
struct DaemonUnderTest {
  let scratch: TemporaryDirectory
  let spool: Spool
  let network: ScriptedNetwork
  private let options: DeliveryOptions
  private let destinations: Destinations

  init(network: ScriptedNetwork, _ change: (inout DeliveryOptions) -> Void = { _ in }) throws {
    scratch = try TemporaryDirectory()
    spool = try Spool(creating: scratch.path("spool"))
    self.network = network
    let store = try DirectoryStore(
      directory: spool.objects.path, baseURL: nil, pool: BlockingPool(label: "store", threads: 2))
    destinations = Destinations(standard: Route(seal: XMTPSeal(), store: store, network: network))
    var options = DeliveryOptions()
    // A busy machine is no reason to cut anything off.
    options.stopSeconds = nil
    change(&options)
    self.options = options
  }

  /// Runs the daemon while `body` does.
  func run(_ body: @escaping @Sendable (DaemonUnderTest) async throws -> Void) async throws {
    let daemon = try await Daemon(
      spool: spool, options: options, destinations: destinations, preparer: NoPreparer(),
      log: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { try await daemon.run(signals: []) }
      try await body(self)
      group.cancelAll()
    }
  }

  @discardableResult
  func drop(_ text: String, to conversation: String) throws -> String {
    try Submission(to: ConversationID(conversation), from: nil, key: nil, text: text, photos: []).drop(into: spool.path)
      .text
  }

  func ask(_ request: ControlRequest) throws -> ControlReply? { try ControlClient.ask(request, in: spool.state) }

  func story(of request: String) throws -> RequestStory? { try LedgerView(in: spool.state).story(of: request) }
}

/// Texts need no preparing.
private struct NoPreparer: PhotoPreparer {
  func prepare(_ photo: PhotoBytes) async throws(DeliveryError) -> PreparedPhoto {
    throw DeliveryError(.unsupportedImage, "no photo was expected")
  }
}
