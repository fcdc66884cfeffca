import Clusters
import Digests
import HTTP
import Secrets
import Stores
import TestSupport
import Testing

/// Bytes of a cluster's relayed requests, in real services and behind faults.
@Suite(
  .timeLimit(.minutes(3)),
  .enabled(if: S3Server.installed.count == S3Server.allCases.count, "the S3 servers of `make test` are not installed"))
struct S3BlobsTests {
  /// More than the usual limit of an answer.
  private static let bytes = (0..<1_500_000).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8) }

  private func blobs(_ server: S3Server, bucket: String = "photos", key: String? = nil) throws -> S3Blobs {
    S3Blobs(
      try server.service(bucket: bucket),
      credentials: Renewable(
        try key.map { S3Credentials(accessKey: $0, secretKey: Secret("SKRO")) } ?? server.credentials()),
      client: HTTPClient())
  }

  private func faulty(_ endpoint: String) throws -> S3Blobs {
    var limits = HTTPLimits()
    limits.stall = .seconds(1)
    return S3Blobs(
      try S3Service(endpoint: endpoint, region: "us-east-1", bucket: "photos"),
      credentials: Renewable(S3Credentials(accessKey: "AKTEST", secretKey: Secret("SKSECRET"))),
      client: HTTPClient(), limits: limits)
  }

  /// Another record for every call.
  private func name(part: Int = 3) throws -> BlobName {
    let digits = String((0..<32).map { _ in "0123456789abcdef".randomElement() ?? "0" })
    return BlobName(record: try #require(RecordID(digits)), part: part)
  }

  private func failure(_ action: () async throws(QueueError) -> Void) async -> QueueError? {
    do { try await action() } catch { return error }
    return nil
  }

  private func kind(of error: QueueError?) -> String {
    switch error {
    case .refused: "refused"
    case .unavailable: "unavailable"
    case .doubtful: "doubtful"
    case .full: "full"
    default: String(describing: error)
    }
  }

  @Test(arguments: S3Server.allCases) func bytesComeBackWholeUntilTheyAreRemoved(from server: S3Server) async throws {
    let (blobs, name) = (try blobs(server), try name())
    let other = BlobName(record: name.record, part: 5)
    #expect(try await blobs.get(name) == nil)
    try await blobs.put([1, 2, 3], as: name)
    try await blobs.put(Self.bytes, as: name)
    try await blobs.put([], as: other)
    #expect(try await blobs.get(name) == Self.bytes)
    #expect(try await blobs.get(other) == [])
    try await blobs.remove([3, 4, 5], of: name.record)
    try await blobs.remove([3, 4, 5], of: name.record)
    #expect(try await blobs.get(name) == nil)
    #expect(try await blobs.get(other) == nil)
  }

  @Test func anObjectsNameTellsNeitherRecordNorPart() async throws {
    let (blobs, name) = (try blobs(.seaweedFS), try name())
    try await blobs.put([1, 2, 3], as: name)
    let object = S3Blobs.object(name).text
    #expect(object == "relayed/\(SHA256Digest(of: Array("\(name.record).3".utf8)).hex)")
    #expect(try await S3Server.seaweedFS.fetch("/photos/\(object)").body == [1, 2, 3])
    try await blobs.remove([3], of: name.record)
    #expect(try await S3Server.seaweedFS.fetch("/photos/\(object)").status == 404)
  }

  @Test(arguments: S3Server.allCases) func aMissingBucketIsRefusedAndNeverTakenForMissingBytes(
    at server: S3Server
  ) async throws {
    let (blobs, name) = (try blobs(server, bucket: "nosuchbucket"), try name())
    let put = await failure { () async throws(QueueError) in try await blobs.put([1], as: name) }
    let get = await failure { () async throws(QueueError) in _ = try await blobs.get(name) }
    let remove = await failure { () async throws(QueueError) in try await blobs.remove([3], of: name.record) }
    let check = await failure { () async throws(QueueError) in try await blobs.check() }
    for error in [put, get, remove, check] {
      #expect(kind(of: error) == "refused" && error?.description.contains("check the bucket") == true)
    }
  }

  @Test func aKeyThatMayOnlyReadPutsNothing() async throws {
    let (blobs, name) = (try blobs(.seaweedFS, key: "AKRO"), try name())
    let error = await failure { () async throws(QueueError) in try await blobs.put([1], as: name) }
    #expect(kind(of: error) == "refused" && error?.description.contains("what the credentials may do") == true)
  }

  @Test func aCheckNeedsToRead() async throws {
    try await blobs(.seaweedFS).check()
    let server = try FaultServer()
    let blobs = try faulty(server.endpoint)
    for (word, part) in [
      ("status/403?s3=AccessDenied", "get, put and delete"), ("status/200", "not as an S3 service"),
      ("status/503", "cannot serve"),
    ] {
      try await server.script(word)
      let error = await failure { () async throws(QueueError) in try await blobs.check() }
      #expect(error?.description.contains(part) == true)
    }
  }

  @Test func aServiceThatIsAwayIsUnavailable() async throws {
    let (blobs, name) = (try faulty("http://127.0.0.1:1"), try name())
    let put = await failure { () async throws(QueueError) in try await blobs.put([1], as: name) }
    let get = await failure { () async throws(QueueError) in _ = try await blobs.get(name) }
    let remove = await failure { () async throws(QueueError) in try await blobs.remove([3], of: name.record) }
    #expect([put, get, remove].map(kind(of:)) == ["unavailable", "unavailable", "unavailable"])
  }

  /// The error of a put that a server answers so.
  private func failureOfPut(_ answer: String) async throws -> QueueError? {
    let server = try FaultServer()
    let (blobs, name) = (try faulty(server.endpoint), try name())
    try await server.script(answer)
    return await failure { () async throws(QueueError) in try await blobs.put([1], as: name) }
  }

  @Test(arguments: ["reset", "close", "stall", "status/503"])
  func aPutWithoutAnAnswerOfTheServiceIsInDoubt(_ fault: String) async throws {
    #expect(try await kind(of: failureOfPut(fault)) == "doubtful")
  }

  @Test(arguments: ["status/403?s3=QuotaExceeded", "status/507"])
  func aFullServiceSaysSo(_ answer: String) async throws {
    #expect(try await kind(of: failureOfPut(answer)) == "full")
  }

  @Test func anAnswerThatIsNoObjectIsRefused() async throws {
    let server = try FaultServer()
    let (blobs, name) = (try faulty(server.endpoint), try name())
    try await server.script("status/200")
    let error = await failure { () async throws(QueueError) in _ = try await blobs.get(name) }
    #expect(kind(of: error) == "refused")
  }
}
