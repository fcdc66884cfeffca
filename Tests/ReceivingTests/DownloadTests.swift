import Digests
import DurableFiles
import Foundation
import HTTP
import Matrix
import Messages
import Secrets
import Settings
import Spooling
import Synchronization
import TestSupport
import Testing

@testable import Receiving

/// A scripted server. Limits only bound failures; no time is measured.
@Suite(.timeLimit(.minutes(5))) struct DownloadTests {
  private static let shared = Result { try TestServer("object_server.py") }

  private let server: TestServer
  private let scratch: TemporaryDirectory
  private let incoming: IncomingSpool
  private let client = HTTPClient()
  private let bytes = (0..<300_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }
  private var endpoint: String { server["endpoint"] }

  init() throws {
    server = try Self.shared.get()
    scratch = try TemporaryDirectory()
    incoming = try IncomingSpool(Spool(creating: scratch.path("spool")))
    // Other tests are being served the same object.
    try Data(bytes).write(to: URL(fileURLWithPath: "\(server["directory"])/object"), options: .atomic)
  }

  private var settings: Settings {
    var settings = Settings()
    settings.receiving.allowPrivate = true
    settings.receiving.bytes = 1_000_000
    return settings
  }

  private func part(_ name: String = "m") throws -> PartialObject {
    try PartialObject(MessageID(unchecked: name), of: ConversationID(unchecked: "family"), in: incoming)
  }

  private func remote(_ path: String, length: Int? = nil) -> RemotePhoto {
    RemotePhoto(
      url: path.contains("://") ? path : "\(endpoint)/\(path)", contentDigest: SHA256Digest(of: bytes).hex,
      contentLength: length)
  }

  private func fetch(
    _ photo: RemotePhoto, settings: Settings? = nil, homeserver: MatrixAccount? = nil, into part: PartialObject
  ) async throws {
    try await Download(client: client, settings: settings ?? self.settings, homeserver: homeserver)
      .fetch(photo, into: part)
  }

  @Test func theProgressOfADownloadRisesToTheEnd() async throws {
    let told = Mutex<[Double]>([])
    try await Download(client: client, settings: settings, homeserver: nil) { part in told.withLock { $0.append(part) }
    }
    .fetch(remote("plain/object"), into: part())
    let parts = told.withLock { $0 }
    #expect(parts.last == 1 && parts == parts.sorted() && parts.allSatisfy { 0...1 ~= $0 })
  }

  private func cause(
    _ photo: RemotePhoto, settings: Settings? = nil, homeserver: MatrixAccount? = nil
  ) async throws -> Cause? {
    let part = try part(UUID().uuidString)
    return try await failure { try await fetch(photo, settings: settings, homeserver: homeserver, into: part) }?.cause
  }

  private var account: MatrixAccount { MatrixAccount(homeserver: endpoint, token: Secret("secret-token")) }

  private struct Asked: Decodable {
    let path: String
    let headers: [String: String]
  }

  private func asked(_ path: String) async throws -> [Asked] {
    let response = try await client.send(HTTPRequest(.get, "\(endpoint)/-/log"))
    return try JSONDecoder().decode([Asked].self, from: Data(response.body)).filter { $0.path.contains(path) }
  }

  @Test(arguments: ["plain/object", "untagged/object", "redirect/1/plain/object", "redirect/10/plain/object"])
  func anObjectComesWhole(_ path: String) async throws {
    let part = try part()
    try await fetch(remote(path), into: part)
    #expect(try part.contents(limit: .max) == bytes)
  }

  @Test func nothingIsSaidOfWhoAsks() async throws {
    _ = try await cause(remote("plain/object?anonymous"))
    let headers = try #require(try await asked("anonymous").first).headers
    #expect(Set(headers.keys) == ["Host", "User-Agent", "Accept", "Accept-Encoding"])
  }

  @Test func interruptedDownloadResumes() async throws {
    let part = try part()
    await #expect(throws: DeliveryError.self) { try await fetch(remote("cut/1000/object?again"), into: part) }
    #expect(try part.count() == 1000)
    try await fetch(remote("cut/1000/object?again"), into: part)
    #expect(try part.contents(limit: .max) == bytes)
    #expect(try await asked("again").map { $0.headers["Range"] } == [nil, "bytes=1000-"])
  }

  @Test func aTagThatNoHeaderMayHoldIsNotSentBack() async throws {
    let part = try part()
    await #expect(throws: DeliveryError.self) { try await fetch(remote("odd-tag/1000/object"), into: part) }
    #expect(try part.validator() == nil)
    try await fetch(remote("odd-tag/1000/object"), into: part)
    #expect(try part.contents(limit: .max) == bytes)
    #expect(try await asked("odd-tag").allSatisfy { $0.headers["If-Range"] == nil && $0.headers["Range"] == nil })
  }

  @Test func changedObjectRestartsTheDownload() async throws {
    let part = try part()
    await #expect(throws: DeliveryError.self) { try await fetch(remote("changed/1000/object"), into: part) }
    try await fetch(remote("changed/1000/object"), into: part)
    #expect(try part.contents(limit: .max) == bytes)
  }

  @Test func anotherPartThanWasAskedForIsNotTaken() async throws {
    let part = try part()
    for _ in 0..<2 {
      await #expect(throws: DeliveryError.self) { try await fetch(remote("wrong-part/1000/object"), into: part) }
    }
    #expect(try part.count() == 1000)
  }

  @Test func withoutADigestNothingIsGoneOnWith() async throws {
    let part = try part()
    let photo = RemotePhoto(url: "\(endpoint)/cut/1000/object?undigested")
    for _ in 0..<2 { await #expect(throws: DeliveryError.self) { try await fetch(photo, into: part) } }
    #expect(try await asked("undigested").allSatisfy { $0.headers["Range"] == nil })
  }

  @Test(arguments: [
    ("endless/200", Cause.tooLarge), ("endless/404", .notFound), ("endless/302", .httpStatus),
    ("claims/10000000000", .tooLarge), ("claims/-1", .network), ("loop", .tooManyRedirects),
    ("redirect/11/plain/object", .tooManyRedirects), ("short/object", .network), ("status/404", .notFound),
    ("status/410", .notFound), ("status/403", .httpStatus), ("status/401", .httpStatus), ("status/429", .rateLimited),
    ("status/500", .serverBusy), ("status/503", .serverBusy), ("status/408", .timeout), ("status/204", .httpStatus),
    ("status/300", .httpStatus), ("status/304", .httpStatus), ("to?url=file:///etc/passwd", .insecureURL),
    ("to?url=ftp://127.0.0.1/x", .insecureURL), ("to?url=http://user:pw@127.0.0.1/x", .insecureURL),
    ("to?url=gopher://127.0.0.1/x", .insecureURL), ("to?url=https://", .insecureURL),
  ])
  func aHostileAnswerHasItsCause(_ path: String, _ expected: Cause) async throws {
    #expect(try await cause(remote(path)) == expected)
  }

  @Test func compressedAnswersAreNotUnpacked() async throws {
    let part = try part()
    try await fetch(remote("packed"), into: part)
    #expect(try part.contents(limit: .max)?.starts(with: [0x1f, 0x8b]) == true)
  }

  @Test func noMoreIsWrittenThanTheLimit() async throws {
    let part = try part()
    await #expect(throws: DeliveryError.self) { try await fetch(remote("endless/200"), into: part) }
    #expect(try part.count() <= settings.receivedObjectBytes)
  }

  @Test func theAnnouncedLengthIsALimitWithSomeAllowance() async throws {
    #expect(try await cause(remote("plain/object", length: bytes.count)) == nil)
    #expect(try await cause(remote("untagged/object", length: bytes.count - 1000)) == nil)
    #expect(try await cause(remote("plain/object", length: 1000)) == .tooLarge)
    #expect(try await cause(remote("plain/object", length: .max)) == nil)
  }

  @Test func theHintOfABusyServerIsKept() async throws {
    let part = try part()
    #expect(try await failure { try await fetch(remote("status/429?retry-after=7"), into: part) }?.retryAfter == 7)
  }

  @Test(arguments: [
    "https://127.0.0.1:1/x", "https://localhost:1/x", "https://10.0.0.1/x", "https://[::1]:1/x",
    "https://[::ffff:127.0.0.1]:1/x", "https://169.254.169.254/latest", "https://100.64.0.1/x", "https://0.0.0.0:1/x",
    "https://2130706433:1/x", "https://0x7f.1:1/x", "https://127.1:1/x", "https://224.0.0.1/x", "https://[fe80::1]/x",
  ])
  func anAddressOfThisMachineOrItsNetworksIsRefused(_ url: String) async throws {
    #expect(try await cause(remote(url), settings: Settings()) == .blockedAddress)
  }

  @Test(arguments: [
    "http://example.org/x", "file:///etc/passwd", "ftp://example.org/x", "HTTP://example.org/x", "data:,x", "x", "",
    "https://", "https://user@example.org/x", "mxc://", "mxc://a", "mxc://a/", "mxc://a/b/c", "mxc:///b",
  ])
  func onlyEncryptedAddressesAreAsked(_ url: String) async throws {
    let photo = RemotePhoto(url: url)
    #expect(try await cause(photo, settings: Settings(), homeserver: account) == .insecureURL)
  }

  @Test func matrixMediaComesFromTheHomeserverWithItsToken() async throws {
    let part = try part()
    try await fetch(remote("mxc://example.org/object"), settings: Settings(), homeserver: account, into: part)
    #expect(try part.contents(limit: .max) == bytes)
  }

  @Test func aTokenIsShownToNobodyElse() async throws {
    _ = try await cause(remote("mxc://example.org/elsewhere-object"), homeserver: account)
    let other = try #require(try await asked("plain/object").last)
    #expect(other.headers["Authorization"] == nil)
  }

  @Test func homeserverCannotRedirectToPrivateAddresses() async throws {
    let photo = remote("mxc://example.org/to-loopback")
    #expect(try await cause(photo, settings: Settings(), homeserver: account) == .blockedAddress)
  }

  @Test func matrixMediaNeedsAValidAccount() async throws {
    #expect(try await cause(remote("mxc://example.org/object")) == .configError)
    let wrong = MatrixAccount(homeserver: endpoint, token: Secret("other"))
    #expect(try await cause(remote("mxc://example.org/object"), homeserver: wrong) == .authExpired)
  }
}
