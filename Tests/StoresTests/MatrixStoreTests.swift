import Digests
import Foundation
import HTTP
import Matrix
import Messages
import Secrets
import Stores
import Synchronization
import TestSupport
import Testing

@Suite(.enabled(if: Synapse.isInstalled, "Synapse is not installed"), .timeLimit(.minutes(3)))
struct MatrixStoreTests {
  private let synapse: Synapse
  private let store: MatrixStore

  init() throws {
    synapse = try Synapse.shared()
    store = try MatrixStore(
      MatrixAccount(homeserver: synapse.endpoint + "/", token: Secret(synapse.token("alice"))), client: HTTPClient())
  }

  private func put(_ bytes: [UInt8], contentType: String = "application/octet-stream") async throws -> String {
    try await store.put(ObjectName(SHA256Digest(of: bytes)), bytes, contentType: contentType) { _ in }
  }

  private func fetch(_ uri: String) async throws -> HTTPResponse {
    let path = uri.replacingOccurrences(of: "mxc://", with: "/_matrix/client/v1/media/download/")
    return try await HTTPClient().send(
      HTTPRequest(
        .get, synapse.endpoint + path, headers: [HTTPHeader("Authorization", "Bearer \(synapse.token("bob"))")]))
  }

  @Test func objectIsKeptByteForByteWithoutFurtherFacts() async throws {
    let bytes = (0..<300_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }
    let progress = Mutex<[Double]>([])
    let uri = try await store.put(
      ObjectName(SHA256Digest(of: bytes)), bytes, contentType: "application/octet-stream"
    ) { fraction in
      progress.withLock { $0.append(fraction) }
    }
    #expect(uri.hasPrefix("mxc://localhost/"))
    let kept = try await fetch(uri)
    #expect(kept.body == bytes && kept.header("Content-Type") == "application/octet-stream")
    #expect(kept.header("Content-Disposition")?.contains("filename") == false)
    let told = progress.withLock { $0 }
    #expect(told.first == 0 && told.last == 1 && told == told.sorted())
  }

  @Test func anAccountWhoseIDsAreUsedUpStillUploads() async throws {
    let account = MatrixAccount(homeserver: synapse.endpoint, token: Secret(synapse.token("carol")))
    let server = try MatrixServer(account, for: .media, client: HTTPClient())
    var ids = 0
    while try await server.ask(.post, "/_matrix/media/v1/create").isSuccess { ids += 1 }
    #expect(ids > 0)
    let store = try MatrixStore(account, client: HTTPClient())
    let uri = try await store.put(ObjectName(unchecked: "a"), [1, 2], contentType: "x/y") { _ in }
    #expect(try await fetch(uri).body == [1, 2])
  }

  @Test func anObjectBeyondTheHomeserversLimitIsRefusedWithBothSizes() async throws {
    let error = await #expect(throws: DeliveryError.self) { _ = try await put(Array(repeating: 0, count: 3 << 20)) }
    #expect(error?.cause == .tooLargeAfterCompress)
    #expect(error?.sentence.contains("3145728") == true && error?.sentence.contains("2097152") == true)
  }

  @Test func checkingNamesTheLimit() async throws { #expect(try await store.check().contains("2097152 bytes")) }
}

@Suite(.timeLimit(.minutes(2))) struct MatrixStoreFaultTests {
  private let server: FaultServer
  private let store: MatrixStore
  private let bytes = Array("sealed".utf8)
  private var object: ObjectName { ObjectName(SHA256Digest(of: bytes)) }

  init() throws {
    server = try FaultServer()
    var limits = HTTPLimits()
    limits.stall = .seconds(1)
    limits.replyBytes = 100_000
    store = try MatrixStore(
      MatrixAccount(homeserver: server.endpoint, token: Secret("TOKENSECRET")), client: HTTPClient(), limits: limits)
  }

  private static let config = FaultServer.says(#"{"m.upload.size": 1000}"#)
  private static let done = FaultServer.says("{}")

  private func id(_ id: String, expires: String = "99999999999999") -> String {
    FaultServer.says(#"{"content_uri": "mxc://example.test:8448/\#(id)", "unused_expires_at": \#(expires)}"#)
  }

  private func refusal(_ status: Int, _ code: String) -> String {
    FaultServer.says(#"{"errcode": "\#(code)", "error": "SECRET told"}"#, status: status)
  }

  private func put(_ bytes: [UInt8]? = nil) async throws(DeliveryError) -> String {
    let bytes = bytes ?? self.bytes
    return try await store.put(ObjectName(SHA256Digest(of: bytes)), bytes, contentType: "x/y") { _ in }
  }

  private func error(_ script: String...) async throws -> DeliveryError? {
    try await server.script(script)
    return try await failure { try await put() }
  }

  /// The requests, without the endpoint's own part.
  private func asked() async throws -> [String] {
    try await server.asked().map { "\($0.method) \($0.target.replacingOccurrences(of: "/_matrix", with: ""))" }
  }

  @Test func anIDIsAskedForAndTheObjectPutUnderIt() async throws {
    #expect(try await error(Self.config, id("a"), Self.done) == nil)
    #expect(
      try await asked() == [
        "GET /client/v1/media/config", "POST /media/v1/create", "PUT /media/v3/upload/example.test:8448/a",
      ])
    let last = try #require(try await server.asked().last)
    #expect(last.header("Authorization") == "Bearer TOKENSECRET" && last.header("Content-Type") == "x/y")
    #expect(last.sha256 == SHA256Digest(of: bytes).hex)
  }

  @Test func lostAnswerIsRepeatedUnderTheSameID() async throws {
    #expect(try await error(Self.config, id("a"), "reset-reply")?.cause == .network)
    try await server.script(refusal(409, "M_CANNOT_OVERWRITE_MEDIA"))
    #expect(try await put() == "mxc://example.test:8448/a")
    #expect(try await asked().count(where: { $0.contains("create") }) == 1)
  }

  @Test func usedIDIsNotTakenForAnotherObject() async throws {
    #expect(try await error(Self.config, id("a"), "reset-reply")?.cause == .network)
    try await server.script(id("b"), Self.done)
    #expect(try await put([1]) == "mxc://example.test:8448/b")
  }

  @Test(arguments: ["status/502", FaultServer.says(#"{"errcode": "M_LIMIT_EXCEEDED"}"#, status: 429), "reset-reply"])
  func storedObjectIsNeverTheAnswerForAnother(_ fault: String) async throws {
    #expect(try await error(Self.config, id("a"), "reset-reply")?.cause == .network)
    try await server.script(id("b"), fault)
    #expect(try await failure { try await put([1]) }?.cause.disposition == .retry)
    try await server.script(Self.done)
    #expect(try await put([1]) == "mxc://example.test:8448/b")
    try await server.script(refusal(409, "M_CANNOT_OVERWRITE_MEDIA"))
    #expect(try await put() == "mxc://example.test:8448/a")
  }

  @Test func unusedIDServesTheNextObject() async throws {
    #expect(try await error(Self.config, id("a"), refusal(429, "M_LIMIT_EXCEEDED"))?.cause == .rateLimited)
    try await server.script(Self.done)
    #expect(try await put([1]) == "mxc://example.test:8448/a")
  }

  @Test func anIDThatHasExpiredIsAskedForAnew() async throws {
    #expect(try await error(Self.config, id("a"), refusal(404, "M_NOT_FOUND"), id("b"), Self.done) == nil)
    #expect(try await asked().last == "PUT /media/v3/upload/example.test:8448/b")
    #expect(try await error(id("c", expires: "1000"), "close") != nil)
    #expect(try await error(id("d"), Self.done) == nil)
  }

  @Test func uselessIDsAreATransientFault() async throws {
    let missing = refusal(404, "M_NOT_FOUND")
    #expect(
      try await error(Self.config, id("a"), missing, id("b"), missing, id("c"), missing)?.cause == .serverBusy)
  }

  @Test func homeserverWithoutIDsGetsAPlainUpload() async throws {
    let plain = FaultServer.says(#"{"content_uri": "mxc://example.test/p"}"#)
    try await server.script(Self.config, refusal(404, "M_UNRECOGNIZED"), plain, plain)
    #expect(try await put() == "mxc://example.test/p")
    #expect(try await put() == "mxc://example.test/p")
    #expect(try await asked().suffix(2) == ["POST /media/v3/upload", "POST /media/v3/upload"])
  }

  @Test func exhaustedIDsFallBackToAPlainUpload() async throws {
    let body = #"{"errcode": "M_LIMIT_EXCEEDED", "retry_after_ms": 86400000}"#
    let plain = FaultServer.says(#"{"content_uri": "mxc://example.test/p"}"#)
    #expect(try await error(Self.config, FaultServer.says(body, status: 429), plain) == nil)
    #expect(try await error(id("a"), Self.done) == nil)
  }

  @Test func homeserverWithoutALimitDecidesItself() async throws {
    #expect(try await error(FaultServer.says("{}"), id("a"), refusal(413, "M_TOO_LARGE"))?.cause == .rejected)
  }

  @Test(
    arguments: [
      ("status/503", Cause.serverBusy), ("html/200", .network), ("html/403", .serverBusy), ("html/502", .serverBusy),
      ("redirect", .configError), ("close", .network), ("garbage", .network), ("huge", .network), ("stall", .timeout),
      ("half", .timeout),
    ], [0, 1, 2])
  func everyFaultHasACauseAndASentence(_ fault: (word: String, cause: Cause), step: Int) async throws {
    for word in [Self.config, id("a")].prefix(step) { try await server.script(word) }
    // Twice, because libcurl retries when a kept connection is closed.
    let error = try #require(try await error(fault.word, fault.word))
    #expect(error.cause == fault.cause)
    #expect(error.sentence.contains("127.0.0.1") && !error.sentence.contains("SECRET"))
    #expect(!error.sentence.contains("\n"))
  }

  @Test(arguments: [
    "", "[]", "{}", #"{"content_uri": 1}"#, #"{"content_uri": "https://example.test/a"}"#,
    #"{"content_uri": "mxc://example.test/"}"#, #"{"content_uri": "mxc://example.test/a/b"}"#,
    #"{"content_uri": "mxc://example.test/.."}"#, #"{"content_uri": "mxc://example.test/a b"}"#,
  ])
  func anIDThatIsNoneIsNotUsed(_ text: String) async throws {
    let error = try await error(Self.config, FaultServer.says(text))
    #expect(error?.cause.disposition == .retry)
    #expect(try await asked().count == 2)
  }

  @Test func theWaitThatIsAskedForIsPassedOn() async throws {
    let body = #"{"errcode": "M_LIMIT_EXCEEDED", "retry_after_ms": 4571}"#
    let error = try await error(Self.config, id("a"), FaultServer.says(body, status: 429, retryAfter: "5"))
    #expect(error?.cause == .rateLimited && error?.retryAfter == 5)
  }

  @Test func aCancelledUploadSaysSo() async throws {
    try await server.script(Self.config, id("a"), "stall")
    await expectCancelled(store, object, bytes)
  }

  @Test func deletingDoesNothingAndSaysNothing() async throws {
    try await store.delete(object)
    #expect(try await server.asked().isEmpty)
  }

  @Test func aStoreDumpsNoSecret() {
    var dumped = ""
    dump(store, to: &dumped)
    #expect(!"\(store)\(dumped)".contains("SECRET"))
  }

  @Test(arguments: [
    "", "matrix.example.test", "ftp://example.test", "https://a:b@example.test", "https://example.test?x",
  ])
  func invalidHomeserversAreConfigurationErrors(_ url: String) {
    #expect { try MatrixStore(MatrixAccount(homeserver: url, token: Secret("t")), client: HTTPClient()) } throws: {
      $0.cause == .configError
    }
  }
}
