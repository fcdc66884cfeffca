import Foundation
import HTTP
import Messages
import Secrets
import TestSupport
import Testing

@testable import Networks

@Suite(.timeLimit(.minutes(2))) struct WebhookNetworkTests {
  private static let secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
  private static let other = "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD"
  private static let noon = Timestamp(milliseconds: 1_772_280_000_250)

  private struct Got: Decodable {
    let verdict: String
    let id: String
    let timestamp: String
    let signature: String
    let contentType: String
    let body: String
  }

  private let photo = Messages.Attachment("https://example.test/o", isSealed: true)

  private func network(
    _ url: String, secrets: [String] = [secret], clock: @escaping @Sendable () -> Timestamp = { .now() }
  ) throws -> WebhookNetwork {
    try WebhookNetwork(
      url: url, secrets: secrets.map { Secret($0) }, allowsPrivateAddresses: true, client: HTTPClient(), clock: clock)
  }

  private func message(
    _ content: OutgoingMessage.Content = .text("hello"), _ id: String = "m1", firstTriedAt: Timestamp? = nil
  ) -> OutgoingMessage {
    OutgoingMessage(id, content, firstTriedAt: firstTriedAt)
  }

  private func got(_ server: TestServer) async throws -> [Got] {
    let response = try await HTTPClient().send(HTTPRequest(.get, server["endpoint"]))
    return try JSONDecoder().decode([Got].self, from: Data(response.body))
  }

  @Test func thePublishedVectorComesOut() throws {
    let signature = try WebhookSignature([Secret(Self.secret)])
    let header = signature.header(
      id: "msg_p5jXN8AQM9LWM0D4loKWxJek", seconds: 1_614_265_330, body: Array(#"{"test": 2432232314}"#.utf8))
    #expect(header == "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=")
  }

  @Test func aProfilePhotoIsAnEventOfItsOwn() async throws {
    let receiver = try TestServer("webhook_receiver.py", Self.secret)
    let network = try network(receiver["endpoint"], clock: { Self.noon })
    // The receiver considers the time too old, so only the bodies count here.
    _ = try? await network.publish(message(.profile(photo), firstTriedAt: Self.noon))
    _ = try? await network.publish(message(.profileRemoval, firstTriedAt: Self.noon))
    let bodies = try await got(receiver).map(\.body)
    let opening = #"{"type":"profile.set","timestamp":"2026-02-28T12:00:00.250Z","data":{"message":"m1","request":"r","#
    #expect(
      bodies[0].hasPrefix(opening + #""inbox":"me","kind":"profile","attachment":{"url":"https://example.test/o""#))
    #expect(bodies[1].hasSuffix(#""data":{"message":"m1","request":"r","inbox":"me","kind":"profile-removal"}}"#))
  }

  @Test func anIndependentReceiverVerifiesEveryAttemptOfAMessage() async throws {
    let receiver = try TestServer("webhook_receiver.py", Self.secret)
    let start = Timestamp.now()
    for seconds in [0.0, 7] {
      let network = try network(receiver["endpoint"], clock: { start.advanced(seconds: seconds) })
      let publication = try await network.publish(message(.photo(photo), firstTriedAt: start))
      #expect(publication.remoteID == nil && publication.attachment == photo)
    }
    let got = try await got(receiver)
    #expect(got.map(\.verdict) == ["verified", "verified"] && got.map(\.id) == ["m1", "m1"])
    try #require(got.count == 2)
    #expect(got[0].body == got[1].body && got[0].contentType == "application/json")
    #expect(Int64(got[1].timestamp) == Int64(got[0].timestamp).map { $0 + 7 } && got[0].signature != got[1].signature)
  }

  @Test func theBodyHasExactlyItsMembersInOrder() async throws {
    let receiver = try TestServer("webhook_receiver.py", Self.secret)
    let start = Timestamp.now()
    let network = try network(receiver["endpoint"], clock: { start })
    _ = try await network.publish(message(.photo(photo)))
    _ = try await network.publish(message(.text("a\n\"b\""), "m2"))
    let got = try await got(receiver)
    let data = #""request":"r","conversation":"family","inbox":"me","kind":"#
    let attachment =
      #"{"url":"https://example.test/o","contentDigest":"d","secret":"s","salt":"t","nonce":"n","scheme":"https://","contentLength":9,"filename":"photo.jpg","mimeType":"image/jpeg","width":3,"height":4}"#
    #expect(
      got.map(\.body) == [
        #"{"type":"message.photo","timestamp":"\#(start)","data":{"message":"m1",\#(data)"photo","attachment":\#(attachment)}}"#,
        #"{"type":"message.text","timestamp":"\#(start)","data":{"message":"m2",\#(data)"text","text":"a\n\"b\""}}"#,
      ])
  }

  @Test(arguments: [secret, other]) func whileASecretIsChangedBothOfThemVerify(_ secret: String) async throws {
    let receiver = try TestServer("webhook_receiver.py", secret)
    _ = try await network(receiver["endpoint"], secrets: [Self.other, Self.secret]).publish(message())
    let got = try await got(receiver)
    #expect(got.map(\.verdict) == ["verified"] && got.first?.signature.split(separator: " ").count == 2)
  }

  @Test func aReceiverIsNeverAskedWhatItHas() async throws {
    #expect(try await network("http://127.0.0.1:1").find(TriedMessage("m")) == .unknown)
  }

  @Test(arguments: [
    ("status/301", Cause.configError), ("redirect", .configError), ("status/400", .rejected),
    ("status/401", .authExpired), ("status/404", .configError), ("status/410", .accountDisabled),
    ("status/413", .rejected), ("status/429", .rateLimited), ("status/500", .serverBusy), ("status/502", .serverBusy),
    ("status/504", .serverBusy), ("html/503", .serverBusy), ("close", .network), ("garbage", .network),
  ])
  func everyFaultHasACauseAndOnePlainSentence(_ fault: String, _ cause: Cause) async throws {
    let server = try FaultServer()
    let network = try network(server.url("hook?token=URLSECRET"))
    try await server.script(fault)
    let error = try #require(
      await #expect(throws: DeliveryError.self) { try await network.publish(message()) })
    #expect(error.cause == cause)
    #expect(error.sentence.contains("127.0.0.1") && !error.sentence.contains("SECRET"))
    #expect(!error.sentence.contains("\n"))
    #expect(try await server.asked().count == 1)
  }

  @Test func theWaitThatIsAskedForIsPassedOn() async throws {
    let server = try FaultServer()
    let network = try network(server.url("hook"))
    try await server.script("status/429?retry-after=7")
    let error = await #expect(throws: DeliveryError.self) { try await network.publish(message()) }
    #expect(error?.retryAfter == 7)
  }

  @Test(arguments: ["status/200", "status/202", "status/204", "html/200", "huge", "drip", "half", "reset-reply"])
  func anyAnswerOfTwoHundredIsSuccess(_ answer: String) async throws {
    let server = try FaultServer()
    try await server.script(answer)
    _ = try await network(server.url("hook")).publish(message())
  }

  @Test func privateAddressesNeedPermission() async throws {
    let server = try FaultServer()
    let port = server.endpoint.split(separator: ":").last ?? ""
    // The same client, so that there is a connection to reuse.
    let client = HTTPClient()
    for host in ["127.0.0.1", "localhost", "[::ffff:127.0.0.1]", "0.0.0.0", "2130706433"] {
      let url = "http://\(host):\(port)/echo"
      _ = try? await client.send(HTTPRequest(.get, url))
      let asked = try await server.asked().count
      var request = HTTPRequest(.get, url)
      request.reach = .publicAddresses
      let error = await #expect(throws: HTTPError.self) { try await client.send(request) }
      #expect(error?.reason == .privateAddress && error?.wasNeverSent == true, "\(host)")
      #expect(try await server.asked().count == asked)
    }
    let network = try WebhookNetwork(
      url: "https://0.0.0.0:\(port)/hook", secrets: [Secret(Self.secret)], client: client)
    let error = await #expect(throws: DeliveryError.self) {
      try await network.publish(message())
    }
    #expect(error?.cause == .configError && error?.sentence.contains("0.0.0.0") == true)
  }

  @Test func loopbackNamesNeedNoPermission() async throws {
    let server = try FaultServer()
    let port = server.endpoint.split(separator: ":").last ?? ""
    var http = HTTPOptions()
    http.proxy = "http://127.0.0.1:1"
    for host in ["127.0.0.1", "localhost", "LOCALHOST", "127.1"] {
      try await server.script("status/204")
      let network = try WebhookNetwork(
        url: "http://\(host):\(port)/hook", secrets: [Secret(Self.secret)], client: HTTPClient(http))
      _ = try await network.publish(message())
    }
    // Whatever the name resolves to, nothing goes to another computer in the clear.
    var request = HTTPRequest(.get, "http://0.0.0.0:\(port)/echo")
    request.reach = .thisComputer
    let error = await #expect(throws: HTTPError.self) { try await HTTPClient().send(request) }
    #expect(error?.reason == .notThisComputer && error?.wasNeverSent == true)
  }

  @Test func invalidWebhooksAreConfigurationErrors() {
    let cases: [(String, [String])] = [
      ("example.test", [Self.secret]), ("https://example.test", []),
      ("https://example.test", [Self.secret, "whsec_"]), ("https://example.test", ["whsec_AAAA"]),
      ("https://example.test", ["MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"]), ("https://example.test", ["whsec_\u{e9}"]),
      ("https://example.test", ["whsec_" + String(repeating: "A", count: 88)]),
    ]
    for (url, secrets) in cases {
      let error = #expect(throws: DeliveryError.self) {
        try WebhookNetwork(url: url, secrets: secrets.map { Secret($0) }, client: HTTPClient())
      }
      #expect(error?.cause == .configError && error?.sentence.contains("AAAA") == false, "\(url)")
    }
  }

  @Test func aNetworkDumpsNoSecret() throws {
    let network = try network("https://example.test")
    var dumped = ""
    dump(network, to: &dumped)
    #expect(!"\(network)\(dumped)".contains("MfKQ9r8"))
  }
}
