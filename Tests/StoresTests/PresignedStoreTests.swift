import Digests
import Foundation
import HTTP
import Messages
import Secrets
import Stores
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(3))) struct PresignedStoreTests {
  private let server: FaultServer
  private let store: PresignedStore
  private let bytes = Array("sealed".utf8)
  private var object: ObjectName { ObjectName(SHA256Digest(of: bytes)) }

  init() throws {
    server = try FaultServer()
    store = try PresignedStore(
      endpoint: server.url("presigned"), token: Renewable(Secret("TOKENSECRET")), client: HTTPClient())
  }

  private func ticket(_ uploadURL: String, _ more: String = "") -> String {
    FaultServer.says(
      #"{"objectKey": "k", "uploadUrl": "\#(uploadURL)", "assetUrl": "https://photos.example.test/k"\#(more), "x": 1}"#)
  }

  private func put(_ bytes: [UInt8]? = nil) async throws(DeliveryError) -> String {
    try await store.put(object, bytes ?? self.bytes, contentType: "image/jpeg") { _ in }
  }

  private func error(_ script: String...) async throws -> DeliveryError? {
    try await server.script(script)
    return try await failure { try await put() }
  }

  @Test func objectIsPutAtTheURLFromTheEndpoint() async throws {
    try await server.script(ticket(server.url("upload/k?sig=1")), "status/200")
    #expect(try await put() == "https://photos.example.test/k")
    let asked = try await server.asked()
    #expect(asked.map(\.method) == ["GET", "PUT"])
    #expect(asked[0].target == "/presigned?contentType=image%2Fjpeg&filename=\(object)")
    #expect(asked[0].header("Authorization") == "Bearer TOKENSECRET")
    #expect(asked[1].target == "/upload/k?sig=1" && asked[1].sha256 == SHA256Digest(of: bytes).hex)
    #expect(!asked[1].headers.contains { $0[1].contains("TOKENSECRET") })
  }

  @Test(arguments: [
    ("host", nil as String?), ("content-type%3Bhost", "image/jpeg"), ("content-type;host", "image/jpeg"),
  ])
  func theTypeIsSentJustWhereItWasSigned(_ signed: String, _ type: String?) async throws {
    try await server.script(ticket(server.url("upload?X-Amz-SignedHeaders=\(signed)")), "status/200")
    _ = try await put()
    #expect(try await server.asked().last?.header("Content-Type") == type)
  }

  @Test func headersOfTheAnswerAreSentAndNoOther() async throws {
    let headers = #", "headers": {"x-ms-blob-type": "BlockBlob"}"#
    try await server.script(ticket(server.url("upload"), headers), "status/201")
    _ = try await put()
    let asked = try #require(try await server.asked().last)
    #expect(asked.header("x-ms-blob-type") == "BlockBlob" && asked.header("Content-Type") == nil)
  }

  @Test(
    .enabled(if: !S3Server.installed.isEmpty, "no S3 server is installed"),
    arguments: S3Server.installed, [true, false])
  func aRealServiceTakesTheObject(_ server: S3Server, typeIsSigned: Bool) async throws {
    let object = ObjectName(unchecked: "presigned-\(typeIsSigned)")
    let url = try server.presigned(object, contentType: typeIsSigned ? "image/jpeg" : nil)
    try await self.server.script(ticket(url))
    _ = try await put()
    #expect(try await server.fetch("/photos/\(object)").body == bytes)
  }

  @Test(.enabled(if: !S3Server.installed.isEmpty, "no S3 server is installed"), arguments: S3Server.installed)
  func aURLThatHasExpiredIsAskedForAgain(with server: S3Server) async throws {
    let object = ObjectName(unchecked: "expired")
    let expired = try server.presigned(object, contentType: nil, secondsFromNow: -1000)
    try await self.server.script(ticket(expired), ticket(try server.presigned(object, contentType: nil)))
    _ = try await put()
    #expect(try await server.fetch("/photos/\(object)").body == bytes)
  }

  @Test func unexplainedRefusalAfterTheDeadlineCountsAsExpiry() async throws {
    let old = server.url("upload?X-Amz-Date=20130524T000000Z&X-Amz-Expires=60")
    try await server.script(ticket(old), "status/403?s3=AccessDenied", ticket(server.url("upload")), "status/200")
    #expect(try await put() == "https://photos.example.test/k")
  }

  @Test func urlRefusedBeforeItsExpiryIsNotRenewed() async throws {
    let error = try await error(ticket(server.url("upload")), "status/403?s3=AccessDenied")
    #expect(error?.cause == .configError)
    #expect(try await server.asked().count == 2)
  }

  @Test func permanentlyExpiredURLsAreATransientFault() async throws {
    let old = server.url("upload?X-Amz-Date=20130524T000000Z&X-Amz-Expires=60")
    let error = try await error(ticket(old), "status/403", ticket(old), "status/403", ticket(old), "status/403")
    #expect(error?.cause == .urlExpired && error?.cause.disposition == .retry)
    #expect(try await server.asked().count == 4)
  }

  @Test func theEndpointsRefusalHoldsTheStore() async throws {
    #expect(try await error("status/401")?.cause == .authExpired)
  }

  @Test func refusedTokenIsReadAgainOnTheNextAttempt() async throws {
    let store = try PresignedStore(
      endpoint: server.url("presigned"), token: Renewable(Secret("old")) { Secret("new") },
      client: HTTPClient())
    for word in ["status/401", "status/503"] {
      try await server.script(word)
      await #expect(throws: DeliveryError.self) { try await store.check() }
    }
    #expect(try await server.asked().map { $0.header("Authorization") } == ["Bearer old", "Bearer new"])
  }

  @Test(arguments: ["status/503", "html/503", "status/429?retry-after=7"])
  func anEndpointThatIsBusyIsTriedAgain(_ fault: String) async throws {
    #expect(try await error(fault)?.cause.disposition == .retry)
  }

  @Test(arguments: [
    "", "{}", "[]", "null", #"{"objectKey": "k"}"#, #"{"objectKey": 1, "uploadUrl": 2, "assetUrl": 3}"#, "{\"objectKey",
    #"{"objectKey": "k", "uploadUrl": "file:///etc/passwd", "assetUrl": "https://example.test/k"}"#,
    #"{"objectKey": "k", "uploadUrl": "https://example.test/k", "assetUrl": "javascript:alert(1)"}"#,
  ])
  func anAnswerThatCannotBeUsedIsAConfigurationError(_ text: String) async throws {
    #expect(try await error(FaultServer.says(text))?.cause == .configError)
  }

  @Test func anUploadThatFailsSaysNothingOfItsURL() async throws {
    let error = try await error(ticket(server.url("upload?X-Amz-Signature=SIGNED")), "status/500")
    #expect(error?.cause == .serverBusy && error?.sentence.contains("SIGNED") == false)
  }

  @Test func anObjectThatIsThereAlreadyCountsAsPut() async throws {
    #expect(try await error(ticket(server.url("upload")), "status/412") == nil)
  }

  @Test func deletingDoesNothingAndSaysNothing() async throws {
    try await store.delete(object)
    #expect(try await server.asked().isEmpty)
  }
}
