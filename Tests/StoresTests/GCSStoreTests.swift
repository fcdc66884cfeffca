import Digests
import GoogleCloud
import HTTP
import Messages
import Synchronization
import TestSupport
import Testing

@testable import Stores

/// A stand-in for Cloud Storage, and a server that misbehaves.
@Suite(.timeLimit(.minutes(2))) struct GCSStoreTests {
  private static let storage = Result { try TestServer("fake_gcs.py") }
  private static let million = (0..<1_000_000).map { UInt8(truncatingIfNeeded: $0 &* 7) }
  private let client = HTTPClient()

  /// Different bytes for every test.
  private func bytes(_ seed: String = #function) -> [UInt8] { Self.million + Array(seed.utf8) }

  private func object(_ bytes: [UInt8]) -> ObjectName { ObjectName(SHA256Digest(of: bytes)) }

  private func store(
    at endpoint: String? = nil, bucket: String = "photos", publicURL: String? = nil
  ) throws -> GCSStore {
    let service = try GoogleService(
      "Cloud Storage", at: "storage.googleapis.com", emulator: endpoint ?? Self.storage.get()["endpoint"],
      for: .objects,
      keyFile: nil, client: client)
    return GCSStore(service, bucket: bucket, publicURL: publicURL)
  }

  private func kept(_ name: String) async throws -> HTTPResponse {
    let endpoint = try Self.storage.get()["endpoint"]
    return try await client.send(
      HTTPRequest(.get, "\(endpoint)/storage/v1/b/photos/o/\(name.percentEncoded())?alt=media"))
  }

  @Test("an object is kept byte for byte with its type, under a download address of Firebase")
  func kept() async throws {
    let bytes = bytes()
    let name = "images/a b/é%?#/image.jpg"
    let url = try await store().put(ObjectName(unchecked: name), bytes, contentType: "image/jpeg") { _ in }
    let address = "https://firebasestorage.googleapis.com/v0/b/photos/o/\(name.percentEncoded())?alt=media&token="
    #expect(url.hasPrefix(address) && url.dropFirst(address.count).wholeMatch(of: /[0-9a-f-]{36}/) != nil)
    let kept = try await kept(name)
    #expect(kept.body == bytes && kept.header("Content-Type") == "image/jpeg")
  }

  @Test("a bucket that everybody may read needs no token")
  func publicURL() async throws {
    let bytes = bytes()
    let store = try store(publicURL: "https://photos.example.org/")
    let url = try await store.put(ObjectName(unchecked: "a b/c"), bytes, contentType: "x/y") { _ in }
    #expect(url == "https://photos.example.org/a%20b/c")
  }

  @Test("progress goes from zero to one and never back, also when the object is there")
  func progress() async throws {
    let bytes = bytes()
    let seen = Mutex<[Double]>([])
    for _ in 0..<2 {
      _ = try await store().put(object(bytes), bytes, contentType: "x/y") { part in seen.withLock { $0.append(part) } }
      let parts = seen.withLock { seen in
        defer { seen = [] }
        return seen
      }
      #expect(parts.first == 0 && parts.last == 1 && parts == parts.sorted() && parts.count > 3)
    }
  }

  @Test("putting twice gives the first address, and of many at once one creates the object")
  func twice() async throws {
    let (bytes, store) = (bytes(), try store())
    let first = try await store.put(object(bytes), bytes, contentType: "x/y") { _ in }
    #expect(try await store.put(object(bytes), bytes, contentType: "x/y") { _ in } == first)
    let other = Array("many".utf8)
    try await withThrowingTaskGroup(of: String.self) { group in
      for _ in 0..<8 { group.addTask { try await store.put(object(other), other, contentType: "x/y") { _ in } } }
      var urls: Set<String> = []
      for try await url in group { urls.insert(url) }
      #expect(urls.count == 1)
    }
  }

  @Test("a name without a digest is never taken for other bytes")
  func otherBytes() async throws {
    let (bytes, store) = (bytes(), try store())
    let object = ObjectName(unchecked: "images/family/image.jpg")
    _ = try await store.put(object, bytes, contentType: "x/y") { _ in }
    let error = try await failure { try await store.put(object, [1, 2, 3], contentType: "x/y") { _ in } }
    #expect(error?.cause == .conflict)
    #expect(try await kept(object.text).body == bytes)
  }

  @Test("a deleted object is gone, and can be deleted twice")
  func deleted() async throws {
    let (bytes, store) = (bytes(), try store())
    _ = try await store.put(object(bytes), bytes, contentType: "x/y") { _ in }
    try await store.delete(object(bytes))
    #expect(try await kept(object(bytes).text).status == 404)
    try await store.delete(object(bytes))
  }

  @Test("a missing bucket is a configuration error, also for the check")
  func missingBucket() async throws {
    let store = try store(bucket: "nosuchbucket")
    let error = try await failure { try await store.put(object([1]), [1], contentType: "x/y") { _ in } }
    #expect(error?.cause == .configError && error?.sentence.contains("no such bucket") == true)
    await #expect(throws: DeliveryError.self) { try await store.check() }
    #expect(try await self.store().check().contains("has the bucket"))
  }

  @Test("an account that may not list the bucket passes the check, one whose project is refused does not")
  func unlisted() async throws {
    let server = try FaultServer()
    let store = try store(at: server.endpoint)
    try await server.script(#"json/403?text={"error":{"status":"PERMISSION_DENIED"}}"#)
    #expect(try await store.check().hasSuffix("does not let it list the bucket"))
    try await server.script(#"json/403?text={"error":{"details":[{"reason":"BILLING_DISABLED"}]}}"#)
    #expect(try await failure { try await store.check() }?.cause == .configError)
  }

  @Test(
    "every fault has a cause and one plain sentence",
    arguments: [
      ("status/503", Cause.serverBusy), ("status/429", .serverBusy), ("html/403", .serverBusy),
      ("json/403?text={}", .configError), ("json/401?text={}", .authExpired), ("json/400?text={}", .configError),
      ("json/413?text={}", .rejected), ("html/200", .network), ("redirect", .configError), ("close", .network),
      ("reset", .network), ("garbage", .network), ("early", .serverBusy),
    ])
  func faults(fault: String, cause: Cause) async throws {
    let server = try FaultServer()
    let store = try store(at: server.endpoint)
    try await server.script(fault)
    let error = try #require(try await failure { try await store.put(object([1]), [1], contentType: "x/y") { _ in } })
    #expect(error.cause == cause)
    #expect(error.sentence.contains("127.0.0.1") && !error.sentence.contains("\n"))
  }

  @Test("an object that somebody else put without a token is not given an address")
  func withoutToken() async throws {
    let server = try FaultServer()
    let store = try store(at: server.endpoint)
    let digest = SHA256Digest(of: [1]).hex
    for (facts, cause) in [
      (#"{"metadata":{"sha256":"\#(digest)"}}"#, Cause.conflict), (#"{}"#, .conflict),
      (#"{"metadata":{"sha256":"x","firebaseStorageDownloadTokens":"t"}}"#, .conflict),
    ] {
      try await server.script("json/412?text={}", FaultServer.says(facts))
      #expect(try await failure { try await store.put(object([1]), [1], contentType: "x/y") { _ in } }?.cause == cause)
    }
    try await server.script(
      "json/412?text={}",
      FaultServer.says(#"{"metadata":{"sha256":"\#(digest)","firebaseStorageDownloadTokens":"t1,t2"}}"#))
    #expect(try await store.put(object([1]), [1], contentType: "x/y") { _ in }.hasSuffix("&token=t1"))
  }

  @Test("a cancelled upload ends and says so")
  func cancelled() async throws {
    let server = try FaultServer()
    try await server.script("stall")
    let bytes = bytes()
    try await expectCancelled(store(at: server.endpoint), object(bytes), bytes)
  }
}
