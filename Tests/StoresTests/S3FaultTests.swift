import Digests
import HTTP
import Messages
import Secrets
import Stores
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(2))) struct S3FaultTests {
  private let server: FaultServer
  private let store: S3Store
  private let bytes = Array("sealed".utf8)
  private var object: ObjectName { ObjectName(SHA256Digest(of: bytes)) }

  init() throws {
    server = try FaultServer()
    store = try Self.store(server.endpoint)
  }

  private static func store(_ endpoint: String) throws -> S3Store {
    var limits = HTTPLimits()
    limits.stall = .seconds(1)
    limits.replyBytes = 100_000
    return S3Store(
      try S3Service(endpoint: endpoint, region: "us-east-1", bucket: "photos"),
      credentials: Renewable(
        S3Credentials(accessKey: "AKTEST", secretKey: Secret("SKSECRET"), sessionToken: Secret("TOKENSECRET"))),
      client: HTTPClient(), limits: limits)
  }

  private func error(_ script: String...) async throws -> DeliveryError? {
    try await server.script(script)
    return try await failure { try await store.put(object, bytes, contentType: "x/y") { _ in } }
  }

  @Test(arguments: [
    ("status/503", Cause.serverBusy), ("status/500", .serverBusy), ("status/429", .rateLimited),
    ("html/503", .serverBusy),
    ("html/403", .configError), ("html/200", .network), ("redirect", .configError), ("close", .network),
    ("reset", .network), ("garbage", .network), ("headers", .network), ("status/200", .configError),
    ("json?text=%7B%7D", .configError), ("stall", .timeout), ("status/401", .authExpired),
    ("status/403?s3=RequestTimeTooSkewed", .configError), ("status/409?s3=ConditionalRequestConflict", .conflict),
  ])
  func everyFaultHasACauseAndOnePlainSentence(_ fault: String, _ cause: Cause) async throws {
    let error = try #require(try await error(fault))
    #expect(error.cause == cause)
    #expect(error.sentence.contains("127.0.0.1") && !error.sentence.contains("SECRET"))
    #expect(!error.sentence.contains("\n") && !error.sentence.contains(object.text))
  }

  @Test(arguments: ["huge", "drip", "half", "reset-reply"])
  func theBodyOfASuccessIsNotWaitedFor(_ answer: String) async throws {
    #expect(try await error(answer) == nil)
  }

  @Test(arguments: ["status/200", "json?text=%7B%7D", "echo"])
  func serverThatAcceptsEverythingIsNoBucket(_ answer: String) async throws {
    try await server.script(answer)
    await #expect { try await store.check() } throws: {
      $0.cause == .configError && "\($0)".contains("not as an S3 service")
    }
  }

  @Test(arguments: ["status/401", "status/403?s3=ExpiredToken"])
  func refusedCredentialsAreReadAgainOnTheNextAttempt(_ refusal: String) async throws {
    @Sendable func credentials(_ name: String) -> S3Credentials {
      S3Credentials(accessKey: name, secretKey: Secret("SKSECRET"), sessionToken: Secret("token of \(name)"))
    }
    let store = S3Store(
      try S3Service(endpoint: server.endpoint, region: "us-east-1", bucket: "photos"),
      credentials: Renewable(credentials("OLD")) { credentials("NEW") }, client: HTTPClient())
    for word in ["status/503", refusal, "status/503"] {
      try await server.script(word)
      await #expect(throws: DeliveryError.self) { try await store.check() }
    }
    let asked = try await server.asked()
    #expect(asked.map { $0.header("x-amz-security-token") } == ["OLD", "OLD", "NEW"].map { "token of \($0)" })
    #expect(asked.last?.header("Authorization")?.contains("Credential=NEW/") == true)
  }

  @Test func anObjectThatIsThereAlreadyCountsAsPut() async throws {
    #expect(try await error("status/412?s3=PreconditionFailed") == nil)
    #expect(try await server.asked().map { $0.header("If-None-Match") } == ["*"])
  }

  @Test(arguments: ["status/501", "status/501?s3=NotImplemented", "status/400?s3=NotImplemented"])
  func serviceWithoutConditionalPutGetsPlainPuts(_ refusal: String) async throws {
    #expect(try await error(refusal, "status/200?etag=e", "status/200?etag=e") == nil)
    #expect(try await error() == nil)
    #expect(try await server.asked().map { $0.header("If-None-Match") } == ["*", nil, nil])
  }

  @Test func aPlainPutDoesNotReplaceOtherBytesOfTheName() async throws {
    try await server.script("status/501", "status/200")
    await #expect {
      try await store.put(ObjectName(unchecked: "image.jpg"), bytes, contentType: "x/y") { _ in }
    } throws: { $0.cause == .conflict }
    #expect(try await server.asked().map(\.method) == ["PUT", "HEAD"])
  }

  @Test func deletingAMissingObjectSucceedsUnlessTheBucketIsMissing() async throws {
    try await server.script("status/404?s3=NoSuchKey", "status/404", "status/404?s3=NoSuchBucket")
    try await store.delete(object)
    try await store.delete(object)
    await #expect { try await store.delete(object) } throws: { $0.cause == .configError }
  }

  @Test func requestsAreFullySignedAndCarryNoSecret() async throws {
    try await server.script("status/200?etag=e")
    _ = try await store.put(object, bytes, contentType: "x/y") { _ in }
    let asked = try #require(try await server.asked().first)
    let digest = SHA256Digest(of: bytes).hex
    #expect(asked.header("x-amz-content-sha256") == digest && asked.sha256 == digest)
    #expect(
      asked.header("Authorization")?.contains(
        "SignedHeaders=content-type;host;if-none-match;x-amz-content-sha256;x-amz-date;x-amz-security-token, ") == true)
    #expect(!asked.headers.contains { $0[1].contains("SKSECRET") })
  }

  @Test func aCancelledUploadSaysSo() async throws {
    try await server.script("stall")
    await expectCancelled(store, object, bytes)
  }

  @Test func aStoreDumpsNoSecret() {
    var dumped = ""
    dump(store, to: &dumped)
    #expect(!"\(store)\(dumped)".contains("SECRET"))
  }

  @Test(arguments: ["s3.example.test", "ftp://s3.example.test", "https://s3.example.test?x"])
  func invalidEndpointsAreConfigurationErrors(_ endpoint: String) {
    #expect {
      try S3Service(endpoint: endpoint, region: "eu-1", bucket: "photos")
    } throws: {
      $0.cause == .configError
    }
  }
}
