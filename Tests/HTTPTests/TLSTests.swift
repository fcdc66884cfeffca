import Foundation
import HTTP
import TestSupport
import Testing

private let hasNginx =
  ["/usr/sbin/nginx", "/usr/bin/nginx"].contains(where: FileManager.default.isExecutableFile)
  && FileManager.default.isExecutableFile(atPath: "/usr/bin/openssl")

@Suite(.timeLimit(.minutes(2)), .enabled(if: hasNginx, "nginx and openssl are not installed"))
struct TLSTests {
  private static let shared = Result { try TestServer("tls_server.py") }

  private let server: TestServer
  private let client: HTTPClient

  init() throws {
    server = try Self.shared.get()
    client = Self.client(believing: server["authority"])
  }

  private static func client(believing file: String?) -> HTTPClient {
    var options = HTTPOptions()
    options.authorityFile = file
    return HTTPClient(options)
  }

  @Test func serverOfTheConfiguredAuthorityIsTrusted() async throws {
    let response = try await client.send(HTTPRequest(.get, server["good"]))
    #expect(response.status == 200 && String(decoding: response.body, as: UTF8.self).hasPrefix("TLSv1."))
  }

  @Test(arguments: [
    ("expired", HTTPError.TLSFault.expired, "expired"), ("wronghost", .wrongHost, "another host"),
    ("selfsigned", .unknownAuthority, "not trusted"),
  ])
  func aBadCertificateIsRefusedWithItsReasonAndNothingSent(
    _ kind: String, _ fault: HTTPError.TLSFault, _ words: String
  ) async throws {
    await #expect {
      try await client.send(HTTPRequest(.put, server[kind], body: [1, 2, 3]))
    } throws: { error in
      guard let error = error as? HTTPError else { return false }
      return error.reason == .tls(fault) && error.wasNeverSent && error.description.contains(words)
    }
  }

  @Test func systemAuthoritiesDoNotCoverAPrivateOne() async throws {
    await #expect {
      try await Self.client(believing: nil).send(HTTPRequest(.get, server["good"]))
    } throws: { error in
      (error as? HTTPError)?.reason == .tls(.unknownAuthority)
    }
  }

  @Test func aMissingFileOfAuthoritiesIsNamedAsTheFault() async throws {
    await #expect {
      try await Self.client(believing: "/nonexistent.pem").send(HTTPRequest(.get, server["good"]))
    } throws: { error in
      (error as? HTTPError)?.reason == .tls(.authorityFile)
    }
  }

  @Test func serverWithoutTLSIsRefused() async throws {
    let plain = try FaultServer()
    let url = plain.url("garbage").replacingOccurrences(of: "http://", with: "https://")
    await #expect {
      try await client.send(HTTPRequest(.get, url))
    } throws: { error in
      guard let error = error as? HTTPError else { return false }
      return error.reason == .tls(.handshake) && error.wasNeverSent
    }
  }
}
