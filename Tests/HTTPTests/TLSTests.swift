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
    var options = HTTPOptions()
    options.authorityFile = server["authority"]
    client = HTTPClient(options)
  }

  private func error(_ url: String, of client: HTTPClient? = nil) async -> HTTPError? {
    do {
      _ = try await (client ?? self.client).send(HTTPRequest(.put, url, body: [1, 2, 3]))
      return nil
    } catch {
      return error
    }
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
    let error = try #require(await error(server[kind]))
    #expect(error.reason == .tls(fault) && error.wasNeverSent && error.description.contains(words))
  }

  @Test func systemAuthoritiesDoNotCoverAPrivateOne() async {
    #expect(await error(server["good"], of: HTTPClient())?.reason == .tls(.unknownAuthority))
  }

  @Test func serverWithoutTLSIsRefused() async throws {
    let plain = try FaultServer()
    let error = await error(plain.url("garbage").replacingOccurrences(of: "http://", with: "https://"))
    #expect(error?.reason == .tls(.handshake) && error?.wasNeverSent == true)
  }
}
