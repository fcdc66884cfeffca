import Digests
import HTTP
import Messages
import Secrets
import Stores
import Synchronization
import TestSupport
import Testing

/// Real services, which are strict in different ways.
@Suite(
  .timeLimit(.minutes(3)),
  .enabled(if: S3Server.installed.count == S3Server.allCases.count, "the S3 servers of `make test` are not installed"))
struct S3StoreTests {
  private static let million = (0..<1_000_000).map { UInt8(truncatingIfNeeded: $0 &* 7) }
  private let client = HTTPClient()

  /// Different bytes for every test.
  private func bytes(_ seed: String = #function) -> [UInt8] { Self.million + Array(seed.utf8) }

  private func object(_ bytes: [UInt8]) -> ObjectName { ObjectName(SHA256Digest(of: bytes)) }

  private func store(
    _ server: S3Server, secret: String? = nil, bucket: String = "photos", addressing: S3Service.Addressing = .path,
    publicURL: String? = nil
  ) throws -> S3Store {
    S3Store(
      try server.service(bucket: bucket, addressing: addressing),
      credentials: Renewable(try server.credentials(secret: secret)), publicURL: publicURL, client: client)
  }

  private func error(_ store: S3Store, _ bytes: [UInt8]) async throws -> DeliveryError? {
    try await failure { try await store.put(object(bytes), bytes, contentType: "x/y") { _ in } }
  }

  @Test(arguments: S3Server.allCases)
  func anObjectIsKeptByteForByteWithItsType(by server: S3Server) async throws {
    let bytes = bytes()
    let url = try await store(server).put(object(bytes), bytes, contentType: "application/octet-stream") { _ in }
    #expect(try url == "\(server.endpoint())/photos/\(object(bytes))")
    let kept = try await server.fetch("/photos/\(object(bytes))")
    #expect(kept.status == 200 && kept.body == bytes)
    #expect(kept.header("Content-Type") == "application/octet-stream")
  }

  @Test(arguments: S3Server.allCases)
  func progressGoesFromZeroToOneAndNeverBack(with server: S3Server) async throws {
    let bytes = bytes()
    let seen = Mutex<[Double]>([])
    for _ in 0..<2 {
      _ = try await store(server).put(object(bytes), bytes, contentType: "x/y") { fraction in
        seen.withLock { $0.append(fraction) }
      }
      let fractions = seen.withLock { seen in
        defer { seen = [] }
        return seen
      }
      #expect(fractions.first == 0 && fractions.last == 1 && fractions == fractions.sorted())
    }
  }

  @Test(arguments: S3Server.allCases)
  func puttingTwiceSucceedsAndChangesNothing(with server: S3Server) async throws {
    let (bytes, store) = (bytes(), try store(server))
    let first = try await store.put(object(bytes), bytes, contentType: "x/y") { _ in }
    let second = try await store.put(object(bytes), bytes, contentType: "x/y") { _ in }
    #expect(first == second)
    #expect(try await server.fetch("/photos/\(object(bytes))").body == bytes)
  }

  @Test(arguments: S3Server.allCases)
  func manyUploadsAtOnceAllSucceed(with server: S3Server) async throws {
    let store = try store(server)
    try await withThrowingTaskGroup(of: Void.self) { group in
      for number in 0..<16 {
        // Each object twice.
        let bytes = Array("many \(number / 2)".utf8)
        let object = object(bytes)
        group.addTask { _ = try await store.put(object, bytes, contentType: "x/y") { _ in } }
      }
      try await group.waitForAll()
    }
  }

  @Test(arguments: S3Server.allCases)
  func deletedObjectIsGoneAndCanBeDeletedTwice(from server: S3Server) async throws {
    let (bytes, store) = (bytes(), try store(server))
    _ = try await store.put(object(bytes), bytes, contentType: "x/y") { _ in }
    try await store.delete(object(bytes))
    #expect(try await server.fetch("/photos/\(object(bytes))").status == 404)
    try await store.delete(object(bytes))
  }

  @Test(arguments: S3Server.allCases)
  func theBucketCanBePartOfTheHostsName(at server: S3Server) async throws {
    let bytes = bytes()
    let url = try await store(server, addressing: .virtualHost).put(object(bytes), bytes, contentType: "x/y") { _ in }
    #expect(url.hasPrefix("http://photos.localhost:") && url.hasSuffix("/\(object(bytes))"))
    #expect(try await server.fetch("/photos/\(object(bytes))").body == bytes)
  }

  @Test(arguments: S3Server.allCases, ["a b", "é/ü?#", "100%", "+=&~()'*!$@:,;", "..", "\\"])
  func nameWithAConversationIsUsedExactly(in server: S3Server, _ conversation: String) async throws {
    let bytes = bytes()
    let object = try #require(ObjectNaming("c !'()*;:@&=+$,é/{conversation}/{digest}.jpg")).name(
      ObjectOrigin(
        digest: SHA256Digest(of: bytes), inbox: InboxID("me"), conversation: ConversationID(conversation),
        message: MessageID(unchecked: "0a1b"), isRepeated: false))
    let url = try await store(server, publicURL: "https://photos.example.test/o/").put(
      object, bytes, contentType: "x/y"
    ) { _ in }
    let path = url.replacing("https://photos.example.test/o/", with: "/photos/")
    #expect(!path.contains("..") && path.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7f })
    #expect(try await server.fetch(path).body == bytes)
  }

  @Test(arguments: S3Server.allCases)
  func aNameWithoutDigestIsNeverTakenForOtherBytes(by server: S3Server) async throws {
    let (bytes, store) = (bytes(), try store(server))
    let object = ObjectName(unchecked: "images/family/image.jpg")
    _ = try await store.put(object, bytes, contentType: "x/y") { _ in }
    _ = try await store.put(object, bytes, contentType: "x/y") { _ in }
    await #expect { try await store.put(object, [1, 2, 3], contentType: "x/y") { _ in } } throws: {
      $0.cause == .conflict
    }
    #expect(try await server.fetch("/photos/images/family/image.jpg").body == bytes)
  }

  @Test(arguments: S3Server.allCases)
  func aWrongSecretHoldsTheStore(at server: S3Server) async throws {
    let error = try await error(store(server, secret: "wrong"), bytes())
    #expect(error?.cause == .authExpired && error?.cause.disposition == .hold)
    #expect(error?.sentence.contains("wrong") == false)
  }

  @Test(arguments: S3Server.allCases)
  func anUnknownKeyHoldsTheStore(at server: S3Server) async throws {
    let unknown = S3Store(
      try server.service(),
      credentials: Renewable(S3Credentials(accessKey: "AKNOBODY", secretKey: Secret("x"))), client: client)
    #expect(try await error(unknown, bytes())?.cause == .authExpired)
  }

  @Test(arguments: S3Server.allCases)
  func aMissingBucketIsAConfigurationError(at server: S3Server) async throws {
    let error = try await error(store(server, bucket: "nosuchbucket"), bytes())
    #expect(error?.cause == .configError && error?.sentence.contains("bucket") == true)
  }

  @Test func aKeyThatMayOnlyReadHoldsTheStore() async throws {
    let reader = S3Store(
      try S3Server.seaweedFS.service(),
      credentials: Renewable(S3Credentials(accessKey: "AKRO", secretKey: Secret("SKRO"))), client: client)
    let error = try await error(reader, bytes())
    #expect(error?.cause == .configError && error?.sentence.contains("what the credentials may do") == true)
  }
}
