import Foundation
import GoogleCloud
import HTTP
import Messages
import Seals
import TestSupport
import Testing

@testable import Networks

@Suite(.timeLimit(.minutes(2))) struct FirestoreNetworkTests {
  /// The recorded exchange, or the emulator itself.
  enum OtherSide: String, CaseIterable {
    case replay, live
  }

  private struct Otherwise: Decodable {
    let otherwise: [String]
    let left: Int
  }

  private static let recording =
    URL(fileURLWithPath: #filePath).deletingLastPathComponent().path + "/Recorded/firestore.jsonl"
  private static let hasEmulator = (try? run([python, pythonScript("firestore_emulator.py"), "find"]).status) == 0
  private let photo = Messages.Attachment("https://example.test/o/first", isSealed: true)
  private let client = HTTPClient()

  private func network(_ endpoint: String, summary: String = "{}") throws -> FirestoreNetwork {
    let service = try GoogleService(
      "Firestore", at: "firestore.googleapis.com", emulator: endpoint, for: .documents, keyFile: nil, client: client)
    let layout = FirestoreNetwork.Layout(
      project: "demo-photospool", database: "(default)", fields: FirestoreNetworkType().fields,
      summary: try #require(FieldMap(summary)))
    return FirestoreNetwork(layout, service)
  }

  @Test("the recorded exchange: published once, with the first upload, and found again")
  func recorded() async throws { try await exchange(with: .replay) }

  @Test(
    "the emulator still answers as it is recorded",
    .enabled(if: hasEmulator, "the emulator of Firestore is not installed"))
  func live() async throws { try await exchange(with: .live) }

  /// With `PHOTOSPOOL_TEST_RECORD`, writes the exchange anew.
  private func exchange(with other: OtherSide) async throws {
    let isRecording = ProcessInfo.processInfo.environment["PHOTOSPOOL_TEST_RECORD"] != nil && other == .live
    if isRecording { try? FileManager.default.removeItem(atPath: Self.recording) }
    let server = try TestServer("firestore_exchange.py", Self.recording, isRecording ? "record" : other.rawValue)
    let network = try network(server["endpoint"], summary: #"{"lastMessageId":"{message}","last":{"at":"{time}"}}"#)
    let first = try await network.publish(OutgoingMessage("0a01", .photo(photo)))
    #expect(first.attachment == photo)
    #expect(try await network.publish(OutgoingMessage("0a02", .text("Check this out!"))).attachment == nil)
    let again = try await network.publish(
      OutgoingMessage("0a01", .photo(Messages.Attachment("https://example.test/o/second", isSealed: true))))
    #expect(again == first, "the first upload and its time stay")
    #expect(try await network.find(TriedMessage("0a01")) == .published(first))
    guard case .published(let text) = try await network.find(TriedMessage("0a02")) else {
      Issue.record("the text is not found")
      return
    }
    #expect(text.attachment == nil)
    #expect(try await network.find(TriedMessage("0a03")) == .unknown, "it may still be on its way")
    let otherwise = try JSONDecoder().decode(
      Otherwise.self, from: Data(try await client.send(HTTPRequest(.get, server["endpoint"] + "/-")).body))
    #expect(otherwise.otherwise == [] && otherwise.left == 0)
  }

  @Test(
    "every fault has a cause and one plain sentence",
    arguments: [
      ("status/301", Cause.configError), ("redirect", .configError), ("json/400?text={}", .malformedRequest),
      ("json/401?text={}", .authExpired), ("json/403?text={}", .forbidden), ("json/404?text={}", .configError),
      ("json/409?text={\"error\":{\"status\":\"ABORTED\"}}", .conflict), ("status/429", .serverBusy),
      ("status/500", .serverBusy), ("html/503", .serverBusy), ("html/200", .network), ("html/403", .serverBusy),
      ("json?text={}", .network), ("close", .network), ("garbage", .network), ("reset-reply", .network),
    ])
  func faults(fault: String, cause: Cause) async throws {
    let server = try FaultServer()
    let network = try network(server.endpoint)
    try await server.script(fault)
    let error = try #require(
      await #expect(throws: DeliveryError.self) { try await network.publish(OutgoingMessage("m1", .photo(photo))) })
    #expect(error.cause == cause)
    #expect(error.sentence.contains("127.0.0.1") && !error.sentence.contains("\n"))
  }

  @Test("a document of somebody else with the id of a message is not taken for it")
  func foreignDocument() async throws {
    let server = try FaultServer()
    let network = try network(server.endpoint)
    let exists = FaultServer.says(#"{"error":{"status":"ALREADY_EXISTS"}}"#, status: 409)
    for own in [#"{}"#, #"{"photospool":{"mapValue":{"fields":{"message":{"stringValue":"m2"}}}}}"#] {
      let document = FaultServer.says(#"{"name":"d","fields":\#(own),"createTime":"2026-11-26T11:38:38.015781Z"}"#)
      try await server.script(exists, document, document)
      let error = await #expect(throws: DeliveryError.self) { try await network.publish(OutgoingMessage("m1")) }
      #expect(error?.cause == .conflict)
      await #expect(throws: DeliveryError.self) { try await network.find(TriedMessage("m1")) }
    }
  }

  @Test("what Firestore cannot have is refused before a photo is uploaded for it")
  func refusals() async throws {
    let network = try network("http://127.0.0.1:1")
    let slash = #expect(throws: DeliveryError.self) {
      try network.admit(Address(unchecked: "a/b"), sealedWith: .matrix)
    }
    #expect(slash?.cause == .malformedRequest)
    let profile = ConversationID.profile(of: InboxID(unchecked: "me")).address
    #expect(#expect(throws: DeliveryError.self) { try network.admit(profile, sealedWith: .matrix) }?.cause == .rejected)
    try network.admit(Address(unchecked: "family"), sealedWith: .matrix)
  }

  @Test("an interrupted publish may have had its effect")
  func interrupted() async throws {
    let server = try FaultServer()
    try await server.script("stall")
    let network = try network(server.endpoint)
    let publish = Task { try await network.publish(OutgoingMessage("m1")) }
    while try await server.asked().isEmpty { await Task.yield() }
    publish.cancel()
    let error = await #expect(throws: DeliveryError.self) { try await publish.value }
    #expect(error?.cause == .network)
  }
}
