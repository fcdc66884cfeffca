import Digests
import DurableFiles
import Foundation
import HTTP
import Ledgers
import Logging
import Messages
import Photos
import Seals
import Settings
import Signalling
import Spooling
import TestSupport
import Testing

@testable import Receiving

/// A whole receiver in this process with its own spool and a scripted server.
@Suite(.timeLimit(.minutes(5))) struct ReceiverTests {
  private static let shared = Result { try TestServer("object_server.py") }

  private let server: TestServer
  private let scratch: TemporaryDirectory
  private let spool: Spool
  private let incoming: IncomingSpool
  private let ledger: Ledger
  private let log = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

  init() throws {
    server = try Self.shared.get()
    scratch = try TemporaryDirectory()
    spool = try Spool(creating: scratch.path("spool"))
    incoming = try IncomingSpool(spool)
    ledger = try Ledger(in: spool.state)
  }

  private struct AsItCame: PhotoPreparer {
    func prepare(_ photo: PhotoBytes, for use: PhotoUse) async throws(DeliveryError) -> PreparedPhoto {
      PreparedPhoto(
        jpeg: [1, 2, 3], width: 1, height: 1, thumbnail: [1], blurred: [2], blurhash: "", quality: nil,
        original: OriginalPhoto(format: .jpeg, bytes: photo.count, width: 1, height: 1, orientation: 1),
        stripped: [])
    }
  }

  private func settings(_ change: (inout Settings) -> Void = { _ in }) -> Settings {
    var settings = Settings()
    settings.receiving.allowPrivate = true
    settings.receiving.fetch = .always
    settings.delivery.backoff = RetryPolicy(first: .milliseconds(10), longest: .milliseconds(50))
    change(&settings)
    return settings
  }

  private func run(_ settings: Settings, _ body: (Receiver) async throws -> Void) async throws {
    let plan = ReceivingPlan(
      settings: settings, client: HTTPClient(), preparer: AsItCame(), homeservers: { _ in nil },
      ownDirectories: [spool.objects.path])
    let receiver = try Receiver(spool: spool, ledger: ledger, mailbox: Mailbox(), plan: { plan }, log: log)
    let running = Task { try await receiver.run() }
    // Instead of a service group, the end of its rings stops it.
    do { try await body(receiver) } catch {
      await receiver.stop()
      throw error
    }
    await receiver.stop()
    try await running.value
  }

  /// Drops the announcement of a sealed photo on the server.
  private func drop(_ name: String, at words: String, to receiver: Receiver, object: String? = nil) throws {
    let photo = PhotoFile(
      bytes: [0xff, 0xd8, 0xff, 0xd9], filename: "photo.jpg", mimeType: "image/jpeg", width: 1, height: 1,
      blurhash: nil)
    let sealed = try XMTPSeal().seal(photo)
    try Data(sealed.bytes).write(to: URL(fileURLWithPath: "\(server["directory"])/\(sealed.digest.hex)"))
    let url = "\(server["endpoint"])/\(words)/\(sealed.digest.hex)"
    let attachment = try JSONEncoder().encode(sealed.facts.attachment(at: url))
    let directory = scratch.path("spool/incoming/new/\(name)")
    try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
    for (file, text) in [
      ("from-conversation", Data("family".utf8)), ("message", Data(name.utf8)), ("attachment", attachment),
    ] {
      try text.write(to: URL(fileURLWithPath: "\(directory)/\(file)"))
    }
    receiver.mailbox.post(renamed: name)
  }

  private func story(_ name: String) throws -> PhotoStory? {
    try LedgerView(in: spool.state).photos(called: name).first
  }

  private func wait(_ name: String, _ state: ReceivedState) async throws {
    for _ in 0..<6000 {
      if try story(name)?.state == state { return }
      try await Task.sleep(for: .milliseconds(10))
    }
    Issue.record("\(name) is \(String(describing: try story(name)?.state)), not \(state)")
  }

  @Test func manyPhotosComeAFewAtATime() async throws {
    try await run(settings { $0.receiving.downloads = 2 }) { receiver in
      for number in 0..<40 { try drop("photo-\(number)", at: number % 4 == 0 ? "after/2" : "plain", to: receiver) }
      for number in 0..<40 { try await wait("photo-\(number)", .downloaded) }
    }
    #expect(try incoming.new.names().isEmpty && incoming.cur.names().isEmpty)
    #expect(try await ledger.cacheUse().first?.photos == 40)
  }

  @Test func missingObjectFailsAfterItsLifetime() async throws {
    try await run(settings { $0.receiving.lifetime = .milliseconds(300) }) { receiver in
      try drop("gone", at: "status/404?", to: receiver)
      try await wait("gone", .failed)
    }
    #expect(try story("gone")?.cause == "not_found")
    #expect(try incoming.cur.names().isEmpty)
  }

  @Test func aStopInTheMiddleLosesNothing() async throws {
    try await run(settings()) { receiver in
      try drop("slow", at: "drip", to: receiver)
      try await wait("slow", .downloading)
    }
    #expect(try story("slow")?.state == .wanted)
  }

  @Test func purgeDropsRunningDownloads() async throws {
    try await run(settings()) { receiver in
      try drop("slow", at: "drip", to: receiver)
      try await wait("slow", .downloading)
      let purged = try #require(try await ledger.beginPurge(of: ConversationID(unchecked: "family"), at: .now()))
      await receiver.release(ConversationID(unchecked: "family"))
      _ = try await ledger.endPurge(of: purged)
      #expect(try story("slow") == nil)
    }
  }

  @Test func dropsFromBeforeTheStartAreFound() async throws {
    let waiting = settings()
    try await run(waiting) { receiver in
      try drop("first", at: "plain", to: receiver)
      try await wait("first", .downloaded)
    }
    // There is no event for it. It looks as if built in place, so it waits for a while.
    try await run(settings { $0.intake.settle = .milliseconds(100) }) { receiver in
      try drop("second", at: "plain", to: receiver)
      receiver.mailbox.postScan()
      try await wait("second", .downloaded)
    }
  }

  @Test func invalidBridgeDropIsRefusedWithItsReason() async throws {
    try await run(settings()) { receiver in
      try FileManager.default.createDirectory(
        atPath: scratch.path("spool/incoming/new/empty"), withIntermediateDirectories: true)
      receiver.mailbox.post(renamed: "empty")
      try drop("good", at: "plain", to: receiver)
      try await wait("good", .downloaded)
    }
    let error = try String(contentsOfFile: scratch.path("spool/incoming/failed/empty/error"), encoding: .utf8)
    #expect(error.contains("there is no file named"))
  }
}
