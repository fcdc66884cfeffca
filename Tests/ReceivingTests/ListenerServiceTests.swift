import Digests
import DurableFiles
import Foundation
import Ledgers
import Logging
import Messages
import Settings
import Spooling
import Synchronization
import TestSupport
import Testing

@testable import Networks
@testable import Receiving

private final class Speaker: Listener {
  enum Word: Sendable {
    /// Messages in one part, and the position after them.
    case says([String], String)
    case fails(Cause)
    /// Delivers messages and fails before it returns the position.
    case breaksOff([String])
  }

  let name = "matrix"
  private let words: Mutex<[Word]>
  /// The positions that were asked for, and whether a call is running.
  private let places = Mutex<[String?]>([])
  private let busy = Mutex(false)
  var asked: [String?] { places.withLock { $0 } }
  var isBusy: Bool { busy.withLock { $0 } }

  init(_ words: Word...) { self.words = Mutex(words) }

  func listen(
    after position: String?, deliver: @Sendable ([Arrival]) async throws -> Void
  ) async throws -> String {
    places.withLock { $0.append(position) }
    busy.withLock { $0 = true }
    defer { busy.withLock { $0 = false } }
    switch words.withLock({ $0.isEmpty ? nil : $0.removeFirst() }) {
    case .says(let messages, let next):
      try await deliver(messages.map(Self.arrival))
      return next
    case .fails(let cause): throw DeliveryError(cause, "the network fails")
    case .breaksOff(let messages):
      try await deliver(messages.map(Self.arrival))
      throw DeliveryError(.network, "the network broke off")
    case nil:
      try await Task.sleep(for: .seconds(3600))
      return position ?? ""
    }
  }

  static func arrival(_ message: String) -> Arrival {
    Arrival(
      conversation: ConversationID(unchecked: "family"), message: message,
      sender: SenderID(unchecked: "@bob:example.org"), attachment: Array(#"{"url":"mxc://a/b"}"#.utf8))
  }
}

@Suite(.timeLimit(.minutes(2))) struct ListenerServiceTests {
  private let scratch: TemporaryDirectory
  private let spool: Spool
  private let incoming: IncomingSpool
  private let log = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

  init() throws {
    scratch = try TemporaryDirectory()
    spool = try Spool(creating: scratch.path("spool"))
    incoming = try IncomingSpool(spool)
  }

  private func subscription(_ speaker: Speaker, _ inbox: String = "me") -> Subscription {
    Subscription(listener: speaker, inbox: InboxID(unchecked: inbox))
  }

  private func run(
    _ subscriptions: [Subscription], mending: Double = 3600, _ body: (ListenerService) async throws -> Void
  ) async throws {
    let service = try ListenerService(
      spool: spool, subscriptions: subscriptions,
      settings: {
        var settings = Settings().delivery
        settings.probe = .milliseconds(20)
        settings.mending = .seconds(mending)
        return settings
      }, log: log)
    let running = Task { try await service.run() }
    do { try await body(service) } catch {
      await service.stop()
      throw error
    }
    await service.stop()
    try await running.value
  }

  private func wait(for what: String, _ holds: () async throws -> Bool) async throws {
    for _ in 0..<6000 {
      if try await holds() { return }
      try await Task.sleep(for: .milliseconds(10))
    }
    Issue.record("it never came to this: \(what)")
  }

  /// The entries of `incoming/new/`, in order of arrival.
  private func dropped() throws -> [String] {
    let scan = try ArrivalScan(incoming.new)
    return try (0..<scan.count).compactMap { try incoming.read(scan[$0].name)?.message.text }
  }

  private var place: String? {
    get throws { try ListeningPlaces(spool).place(of: "matrix") }
  }

  @Test func heardMessagesAreDroppedInOrderAndThePositionIsKept() async throws {
    let many = (0..<200).map { "event-\($0)" }
    let speaker = Speaker(.says([], "s1"), .says(many, "s2"), .says(["last"], "s3"))
    try await run([subscription(speaker)]) { service in
      try await wait(for: "s3") { try place == "s3" }
      #expect(await service.state.first?.heard == 201)
    }
    #expect(try dropped() == many + ["last"])
    #expect(Array(speaker.asked.prefix(3)) == [nil, "s1", "s2"])
    let first = try #require(try incoming.new.names().sorted().first)
    let read = try #require(try incoming.read(first))
    #expect(read.conversation.text == "family" && read.inbox?.text == "me")
    #expect(try spool.incoming.directory("tmp").names().isEmpty)
  }

  @Test func interruptedAnswerIsHeardAgainAndReceivedOnce() async throws {
    let speaker = Speaker(.says([], "s1"), .breaksOff(["a", "b"]), .breaksOff([]), .says(["a", "b", "c"], "s2"))
    try await run([subscription(speaker)]) { _ in try await wait(for: "s2") { try place == "s2" } }
    #expect(Array(speaker.asked.prefix(4)) == [nil, "s1", "s1", "s1"])
    #expect(try dropped() == ["a", "b", "a", "b", "c"])
    // The ledger recognises known messages.
    let ledger = try Ledger(in: spool.state)
    let names = try ArrivalScan(incoming.new)
    let messages = try (0..<names.count).map { index in
      let found = try #require(try incoming.read(names[index].name))
      return NewReceived(
        inbox: try #require(found.inbox), conversation: found.conversation, remote: found.message.text,
        digest: SHA256Digest(of: found.attachment), photos: try AttachmentReader.read(found.attachment).photos)
    }
    let receptions = try await ledger.receive(messages, fetch: .ask, at: .now())
    #expect(receptions.map { $0 == .known } == [false, false, true, true, false])
    try ledger.close()
  }

  @Test func aNextProcessGoesOnBehindWhatWasKept() async throws {
    try await run([subscription(Speaker(.says(["a"], "s1")))]) { _ in try await wait(for: "s1") { try place == "s1" } }
    let speaker = Speaker()
    try await run([subscription(speaker)]) { _ in
      try await wait(for: "the next question") { speaker.asked == ["s1"] }
    }
  }

  @Test func permanentFaultsHoldTheListenerUntilAHurry() async throws {
    let speaker = Speaker(.fails(.authExpired), .fails(.forbidden), .says(["a"], "s1"))
    try await run([subscription(speaker)]) { service in
      try await wait(for: "a failure") { await service.state.first?.failure?.cause == .authExpired }
      #expect(
        await service.state.first?.sentence().hasPrefix("nothing is heard: the network fails; next attempt ") == true)
      try await wait(for: "another failure") {
        await service.hurry()
        return await service.state.first?.failure?.cause == .forbidden
      }
      try await wait(for: "an answer") {
        await service.hurry()
        return try place == "s1"
      }
      try await wait(for: "no failure") { await service.state.first?.failure == nil }
    }
    #expect(speaker.asked.count >= 3)
  }

  @Test func transientFaultsAreRetried() async throws {
    let speaker = Speaker(.fails(.unreachable), .fails(.serverBusy), .fails(.timeout), .says([], "s1"))
    try await run([subscription(speaker)]) { _ in try await wait(for: "s1") { try place == "s1" } }
  }

  @Test func emptyAnswersAreSpacedOut() async throws {
    let hasty = Hasty()
    try await run([Subscription(listener: hasty, inbox: InboxID(unchecked: "me"))]) { _ in
      try await wait(for: "a few answers") { hasty.count >= 3 }
      let began = ContinuousClock.now
      let before = hasty.count
      try await wait(for: "four more") { hasty.count >= before + 4 }
      #expect(ContinuousClock.now - began > .seconds(1))
    }
  }

  @Test func aChangedConfigurationEndsOneListenerBeforeTheNextBegins() async throws {
    let (first, second) = (Speaker(.says([], "s1")), Speaker(.says(["b"], "s2")))
    try await run([subscription(first)]) { service in
      try await wait(for: "waiting") { first.isBusy && first.asked.count == 2 }
      service.follow([subscription(first)])
      service.follow([subscription(second)])
      try await wait(for: "s2") { try place == "s2" }
      #expect(!first.isBusy)
      #expect(second.asked.first == "s1")
      service.follow([])
      try await wait(for: "nobody") { await service.state.isEmpty }
      #expect(!second.isBusy)
    }
    #expect(first.asked.count == 2, "the same one goes on as it was")
  }

  @Test func aPlaceThatIsNoneBeginsAnew() throws {
    let places = try ListeningPlaces(spool)
    #expect(try places.place(of: "matrix") == nil)
    try places.keep("@a:b s1", of: "matrix")
    #expect(try places.place(of: "matrix") == "@a:b s1")
    #expect(throws: DeliveryError.self) { try places.keep("a\nb", of: "matrix") }
    #expect(throws: DeliveryError.self) { try places.keep(String(repeating: "a", count: 70_000), of: "matrix") }
    #expect(try places.place(of: "matrix") == "@a:b s1")
    let file = scratch.path("spool/state/listening/matrix")
    for text in ["", "half", String(repeating: "a", count: 70_000) + "\n"] {
      try Data(text.utf8).write(to: URL(fileURLWithPath: file))
      #expect(try places.place(of: "matrix") == nil)
    }
  }

  @Test(arguments: [
    (Cause.unreachable, nil, 0.5, 5.0), (.serverBusy, 30, 30, 30), (.rateLimited, 7, 7, 7),
    (.rateLimited, nil, 0.5, 60),
    (.authExpired, nil, 300, 300), (.forbidden, nil, 300, 300),
  ])
  func thePauseIsThatOfSending(_ cause: Cause, _ asked: Double?, _ least: Double, _ most: Double) {
    for failures in [1, 3, 40] {
      let error = DeliveryError(cause, "it fails", retryAfter: asked)
      let pace = ListeningPace(settings: Settings().delivery)
      #expect(pace.wait(after: error, failures: failures, random: 1) >= least)
      #expect(0.2...most ~= pace.wait(after: error, failures: failures, random: 0))
      #expect(pace.wait(after: error, failures: failures, random: 1) <= most)
    }
  }
}

/// A listener that answers at once with a new position and nothing else.
private final class Hasty: Listener {
  let name = "hasty"
  private let answers = Mutex(0)
  var count: Int { answers.withLock { $0 } }

  func listen(after position: String?, deliver: @Sendable ([Arrival]) async throws -> Void) async throws -> String {
    answers.withLock {
      $0 += 1
      return "s\($0)"
    }
  }
}
