import Foundation
import HTTP
import Messages
import Secrets
import TestSupport
import Testing

@testable import GoogleCloud

@Suite(.timeLimit(.minutes(2))) struct AccessTokenTests {
  private struct Got: Decodable {
    let verdict: String
    let issuer: String
    let scope: String
    let seconds: Int
    let type: String
  }

  private let endpoint: TestServer
  private let client = HTTPClient()

  init() throws { endpoint = try TestServer("token_endpoint.py") }

  private func tokens(for scope: GoogleUse = .documents) throws -> AccessTokens {
    let source = SecretSource.document(endpoint["keyFile"])
    return AccessTokens(
      try Renewable(reading: { try ServiceAccount(try source.load()) }), for: scope, client: client)
  }

  private func got() async throws -> [Got] {
    let response = try await client.send(HTTPRequest(.get, endpoint["endpoint"]))
    return try JSONDecoder().decode([Got].self, from: Data(response.body))
  }

  private func answer(_ members: String) async throws {
    _ = try await client.send(HTTPRequest(.put, endpoint["endpoint"], body: Array(members.utf8)))
  }

  @Test("google-auth verifies the assertion of each scope, and its claims are the account's")
  func verified() async throws {
    for scope in [GoogleUse.documents, .objects] {
      _ = try await tokens(for: scope).current()
    }
    let got = try await got()
    #expect(got.map(\.verdict) == ["verified", "verified"])
    #expect(Set(got.map(\.issuer)) == ["photospool@demo-photospool.iam.gserviceaccount.com"])
    #expect(
      got.map(\.scope) == [
        "https://www.googleapis.com/auth/datastore", "https://www.googleapis.com/auth/devstorage.read_write",
      ])
    #expect(got.allSatisfy { $0.seconds == 3600 && $0.type == "application/x-www-form-urlencoded" })
  }

  @Test("one token serves many requests, also those that wait for it at once")
  func shared() async throws {
    let tokens = try tokens()
    try await withThrowingTaskGroup(of: Secret.self) { group in
      for _ in 0..<16 { group.addTask { try await tokens.current() } }
      for try await token in group { #expect(token == Secret("token-1")) }
    }
    #expect(try await tokens.current() == Secret("token-1"))
    #expect(try await got().count == 1)
  }

  @Test("a token is no longer used five minutes before its end, or after a refusal")
  func renewed() async throws {
    try await answer(#"{"expires_in": 300}"#)
    let tokens = try tokens()
    #expect(try await tokens.current() == Secret("token-1"))
    try await answer(#"{"expires_in": 3600}"#)
    #expect(try await tokens.current() == Secret("token-2"))
    tokens.refuse(Secret("token-1"))
    #expect(try await tokens.current() == Secret("token-2"))
    tokens.refuse(Secret("token-2"))
    #expect(try await tokens.current() == Secret("token-3"))
  }

  @Test("a refused key holds the destination, with a sentence that shows no secret")
  func refused() async throws {
    try await answer(#"{"status": 400}"#)
    let error = try #require(await #expect(throws: DeliveryError.self) { try await tokens().current() })
    #expect(error.cause == .authExpired && error.sentence.contains("invalid_grant"))
    #expect(!error.sentence.contains("SECRET") && error.sentence.contains("photospool@demo-photospool"))
    try await answer(#"{"status": 503}"#)
    #expect(await #expect(throws: DeliveryError.self) { try await tokens().current() }?.cause == .serverBusy)
  }

  @Test("a cancelled request stops waiting for a token, and the others go on")
  func cancelled() async throws {
    let server = try FaultServer()
    try await server.script("stall")
    let key = try keyFile { $0["token_uri"] = server.url("token") }
    let tokens = AccessTokens(Renewable(try ServiceAccount(key)), for: .objects, client: client)
    let waiting = Task { try await tokens.current() }
    while try await server.asked().isEmpty { await Task.yield() }
    waiting.cancel()
    let error = await #expect(throws: DeliveryError.self) { try await waiting.value }
    #expect(error?.cause == .cancelled)
  }

  @Test("a refused access token is replaced, and the request is sent again")
  func serviceRefusesToken() async throws {
    let server = try FaultServer()
    let source = SecretSource.document(endpoint["keyFile"])
    let service = try GoogleService(
      "Firestore", at: "firestore.example.org", emulator: server.endpoint, for: .documents,
      keyFile: { try source.load() }, client: client)
    try await server.script("status/401", FaultServer.says("{}"), FaultServer.says("{}"), "status/401", "status/401")
    #expect(try await service.ask(.post, "/v1/x").isSuccess)
    #expect(try await service.ask(.get, "/v1/x").isSuccess)
    #expect(try await service.ask(.get, "/v1/x").status == 401)
    let tokens = try await server.asked().map { $0.header("Authorization") ?? "" }
    #expect(tokens == [1, 2, 2, 2, 3].map { "Bearer token-\($0)" })
  }

  @Test("the key file has to be that of a service account, whose assertions are sent encrypted or to this computer")
  func keyFiles() throws {
    #expect(try ServiceAccount(keyFile { $0["token_uri"] = "https://oauth2.example.org/token" }).email.contains("@"))
    let changes: [(inout [String: String]) -> Void] = [
      { $0["token_uri"] = "http://oauth2.example.org/token" }, { $0["token_uri"] = "nowhere" },
      { $0["token_uri"] = nil }, { $0["client_email"] = nil }, { $0["private_key"] = nil },
      { $0["private_key"] = "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n" },
    ]
    for change in changes {
      let key = try keyFile(change)
      let error = #expect(throws: DeliveryError.self) { try ServiceAccount(key) }
      #expect(error?.cause == .configError && error?.sentence.contains("key") == true)
    }
    #expect(throws: DeliveryError.self) { try ServiceAccount(Secret("no JSON")) }
  }

  @Test("a key of another kind, or one with a password, is refused without a question on the terminal")
  func otherKeys() throws {
    let elliptic = try run(["openssl", "genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256"]).output
    let locked = try run(["openssl", "genpkey", "-algorithm", "RSA", "-aes256", "-pass", "pass:x"]).output
    #expect(elliptic.contains("PRIVATE KEY") && locked.contains("ENCRYPTED PRIVATE KEY"))
    #expect(RS256Key(pem: elliptic) == nil && RS256Key(pem: locked) == nil && RS256Key(pem: "") == nil)
  }

  /// The key file with changed members.
  private func keyFile(_ change: (inout [String: String]) -> Void) throws -> Secret {
    let bytes = try Data(contentsOf: URL(fileURLWithPath: endpoint["keyFile"]))
    var members = try JSONDecoder().decode([String: String].self, from: bytes)
    change(&members)
    return Secret(String(decoding: try JSONEncoder().encode(members), as: UTF8.self))
  }
}
